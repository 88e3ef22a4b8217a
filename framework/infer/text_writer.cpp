// SPDX-License-Identifier: BSD-3-Clause
// Implements TextWriter: after each pass of a TextFeed over the model, it selects the next token of each
// output, by beam search or by drawing. Generator calls it for a group of prompts. The text of an output must
// not depend on the others in its group. Read text_writer.hpp first.
#include "infer/text_writer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <encore/error.hpp>
#include <encore/target_tokenizer.hpp>

#include "infer/decoded_text.hpp"
#include "infer/next_token.hpp"

namespace encore::infer {

std::int64_t most_tokens(const model::Model& model, const Decoding& decoding, const ExampleSet& set,
                         std::size_t sequence) {
  const bool has_source = model.needs().target;
  const std::int64_t rows = std::ssize(prompt_of(model, decoding, set, sequence));
  const std::int64_t room = model.max_length() - rows + 1;  // the last token needs no row
  if (room < 1)
    throw Error("a prompt of " + std::to_string(rows) + " tokens leaves no room in a model of " +
                std::to_string(model.max_length()) + " rows (data.max_length); shorten it");
  // With a source, only the positions limit an output; without one an output may lose its first
  // tokens.
  std::int64_t most = decoding.max_tokens > 0 ? decoding.max_tokens : room;
  if (has_source) most = std::min(most, room);
  if (has_source && decoding.beyond_source >= 0)
    most = std::min(most, std::ssize(set.ids(sequence)) + decoding.beyond_source);
  return std::max<std::int64_t>(most, 1);
}

std::int64_t most_rows(const model::Model& model, const Decoding& decoding, const ExampleSet& set,
                       std::size_t sequence) {
  const std::int64_t rows = std::ssize(prompt_of(model, decoding, set, sequence));
  return std::min(rows + most_tokens(model, decoding, set, sequence) - 1, model.max_length());
}

std::vector<TextWriter::Prompt> TextWriter::make_prompts(const model::Model& model, const Decoding& decoding,
                                                         const ExampleSet& set,
                                                         std::span<const std::size_t> sequences) {
  std::vector<Prompt> prompts;
  for (const std::size_t sequence : sequences)
    prompts.push_back({.sequence = sequence, .most_tokens = most_tokens(model, decoding, set, sequence)});
  return prompts;
}

TextWriter::TextWriter(model::Model& model, const Tokenizer& tokenizer, const ExampleSet& set,
                       const Decoding& decoding, const Generator::Seen& seen,
                       std::span<const std::size_t> sequences, Generator::Required required)
    : model_(model),
      tokenizer_(target_tokenizer_of(tokenizer)),
      decoding_(decoding),
      seen_(seen),
      requires_(!sequences.empty() && !required.empty() && !required[sequences.front()].empty()),
      times_(parallel_texts(decoding)),
      end_(tokenizer_.special(Special::end)),
      padding_(tokenizer_.special(Special::padding)),
      prompts_(make_prompts(model, decoding, set, sequences)),
      feed_(model, decoding, set, sequences, times_, capacity(set)),
      best_(model.device(), BeamSearch::candidates(decoding.beam) + 1) {
  for (Prompt& prompt : prompts_) {
    if (decoding.temperature > 0.0) {
      prompt.drawn.resize(static_cast<std::size_t>(times_));
      continue;
    }
    if (requires_) prompt.required = std::make_unique<RequiredTokens>(tokenizer_, required[prompt.sequence]);
    prompt.search.emplace(decoding, end_, prompt.most_tokens, prompt.required.get());
  }
}

std::int64_t TextWriter::capacity(const ExampleSet& set) const {
  std::int64_t longest = 1;
  for (const Prompt& prompt : prompts_)
    longest = std::max(longest, most_rows(model_, decoding_, set, prompt.sequence));
  return longest;
}

void TextWriter::run() {
  feed_.read();
  if (decoding_.temperature > 0.0)
    draw();
  else
    search();
}

/// Returns the logits of each row of the feed, after the penalty for tokens that the output already has.
std::vector<std::vector<float>> TextWriter::logits() {
  const Tensor logits = feed_.logits();
  const std::span<const float> all = reader_.read(model_.device(), logits);
  std::vector<std::vector<float>> rows;
  for (std::size_t i = 0; i < feed_.rows().size(); ++i) {
    const auto row = all.begin() + static_cast<std::ptrdiff_t>(i) * logits.extent(1);
    rows.emplace_back(row, row + logits.extent(1));
    if (decoding_.repetition_penalty != 1.0)
      penalize_repetitions(feed_.tokens(feed_.rows()[i]), decoding_.repetition_penalty, rows.back());
  }
  return rows;
}

/// Returns logits() with no probability for padding, which must not be drawn.
std::vector<std::vector<float>> TextWriter::logits_to_draw() {
  std::vector<std::vector<float>> rows = logits();
  if (!is_written(padding_))
    for (std::vector<float>& row : rows)
      row[static_cast<std::size_t>(padding_)] = std::numeric_limits<float>::lowest();
  return rows;
}

// --- search ---

/// Returns the tokens that write a required text in the live output at this place.
std::vector<std::int32_t> TextWriter::wanted(std::size_t place) const {
  const auto times = static_cast<std::size_t>(times_);
  const Prompt& prompt = prompts_[place / times];
  const auto slot = std::ranges::find(prompt.slots, place % times);
  return prompt.search->wanted(static_cast<std::size_t>(slot - prompt.slots.begin()));
}

/// Returns the candidates of each row of the feed; `places` are those of the outputs. Padding keeps its share
/// of the probability and is skipped.
std::vector<std::vector<NextToken>> TextWriter::candidates(std::span<const std::size_t> places) {
  const std::int64_t count = BeamSearch::candidates(decoding_.beam);
  std::vector<std::vector<NextToken>> all;
  if (requires_) {
    for (const std::vector<float>& row : logits()) {
      all.push_back(most_probable(row, count, wanted(places[all.size()])));
      std::erase_if(all.back(), [&](const NextToken& candidate) { return !is_written(candidate.token); });
    }
    return all;
  }
  if (decoding_.repetition_penalty == 1.0)
    all = best_.of(feed_.logits());
  else
    for (const std::vector<float>& row : logits()) all.push_back(most_probable(row, count + 1));
  for (std::vector<NextToken>& row : all) {
    std::erase_if(row, [&](const NextToken& candidate) { return !is_written(candidate.token); });
    if (std::ssize(row) > count) row.resize(static_cast<std::size_t>(count));
  }
  return all;
}

void TextWriter::search() {
  std::vector<std::size_t> places;  // of the rows
  for (std::size_t prompt = 0; prompt < prompts_.size(); ++prompt) places.push_back(place(prompt, 0));
  std::vector<std::vector<NextToken>> rows = candidates(places);
  if (times_ > 1) feed_.repeat();
  std::vector<std::vector<NextToken>> by_place(place(prompts_.size(), 0));
  while (!places.empty()) {
    for (std::size_t i = 0; i < rows.size(); ++i) by_place[places[i]] = std::move(rows[i]);
    copies_.clear();
    for (std::size_t prompt = 0; prompt < prompts_.size(); ++prompt) {
      if (prompts_[prompt].search->done()) continue;
      std::vector<std::vector<NextToken>> of;
      for (const std::size_t slot : prompts_[prompt].slots)
        of.push_back(std::move(by_place[place(prompt, slot)]));
      advance(prompt, of);
    }
    feed_.copy(copies_);
    for (std::size_t prompt = 0; prompt < prompts_.size(); ++prompt) {
      const std::vector<BeamSearch::Live>& live = prompts_[prompt].search->live();
      for (std::size_t k = 0; k < live.size(); ++k)
        feed_.append(place(prompt, prompts_[prompt].slots[k]), live[k].tokens.back());
    }
    feed_.read();
    places = feed_.rows();
    if (!places.empty()) rows = candidates(places);
  }
}

void TextWriter::advance(std::size_t number, std::span<const std::vector<NextToken>> of) {
  BeamSearch& search = *prompts_[number].search;
  search.advance(of);
  if (seen_ && decoding_.beam == 1 && !search.live().empty()) show(number, 0, search.live().front().tokens);
  end_at_stops(search);
  assign_slots(number);
}

void TextWriter::end_at_stops(BeamSearch& search) const {
  if (decoding_.stop.empty()) return;
  for (std::size_t k = search.live().size(); k-- > 0 && !search.done();)
    if (decoded_so_far(tokenizer_, search.live()[k].tokens, decoding_.stop).stopped) search.end(k);
}

/// Outputs keep the slot of their parent if possible, so that little must be copied.
void TextWriter::assign_slots(std::size_t number) {
  Prompt& prompt = prompts_[number];
  const std::vector<BeamSearch::Live>& live = prompt.search->live();
  std::vector<bool> taken(static_cast<std::size_t>(times_), false);
  std::vector<std::optional<std::size_t>> slots(live.size());
  for (std::size_t k = 0; k < live.size(); ++k) {
    const std::size_t slot = prompt.slots[live[k].parent];
    if (taken[slot]) continue;
    taken[slot] = true;
    slots[k] = slot;
  }
  for (std::size_t k = 0; k < live.size(); ++k) {
    if (slots[k]) continue;
    slots[k] = static_cast<std::size_t>(std::ranges::find(taken, false) - taken.begin());
    taken[*slots[k]] = true;
    copies_.push_back({.from = static_cast<std::int64_t>(place(number, prompt.slots[live[k].parent])),
                       .to = static_cast<std::int64_t>(place(number, *slots[k]))});
  }
  for (std::size_t slot = 0; slot < taken.size(); ++slot)
    if (!taken[slot]) feed_.end(place(number, slot));
  prompt.slots.clear();
  for (const std::optional<std::size_t>& slot : slots) prompt.slots.push_back(*slot);
}

// --- draws ---

void TextWriter::draw() {
  std::vector<std::vector<float>> rows = logits_to_draw();
  if (times_ > 1) feed_.repeat();
  const auto times = static_cast<std::size_t>(times_);
  for (std::size_t prompt = 0; prompt < prompts_.size(); ++prompt)
    for (std::size_t text = 0; text < times; ++text) draw_next(prompt, text, rows[prompt]);
  for (;;) {
    feed_.read();
    if (feed_.rows().empty()) return;
    rows = logits_to_draw();
    for (std::size_t i = 0; i < rows.size(); ++i)
      draw_next(feed_.rows()[i] / times, feed_.rows()[i] % times, rows[i]);
  }
}

void TextWriter::draw_next(std::size_t number, std::size_t text, std::span<const float> logits) {
  Drawn& drawn = prompts_[number].drawn[text];
  GeneratedText& written = drawn.text;
  const NextToken next = draw_token(
      logits, decoding_, draw_number(decoding_.seed, static_cast<std::int64_t>(text), drawn.tokens));
  drawn.log_probability += next.log_probability;
  ++drawn.tokens;
  written.ended = next.token == end_;
  if (!written.ended) {
    written.tokens.push_back(next.token);
    if (seen_) show(number, text, written.tokens);
    written.ended =
        !decoding_.stop.empty() && decoded_so_far(tokenizer_, written.tokens, decoding_.stop).stopped;
  }
  if (written.ended || drawn.tokens >= prompts_[number].most_tokens)
    feed_.end(place(number, text));
  else
    feed_.append(place(number, text), next.token);
}

// --- results ---

void TextWriter::show(std::size_t prompt, std::size_t text, const std::vector<std::int32_t>& tokens) const {
  seen_(prompts_[prompt].sequence, text, decoded_so_far(tokenizer_, tokens, decoding_.stop).text);
}

std::vector<GeneratedText> TextWriter::texts(std::size_t number) const {
  const Prompt& prompt = prompts_[number];
  std::vector<GeneratedText> texts;
  if (prompt.search) texts = prompt.search->best(static_cast<std::size_t>(decoding_.texts));
  for (const Drawn& drawn : prompt.drawn) {
    texts.push_back(drawn.text);
    texts.back().score =
        drawn.log_probability /
        std::pow(static_cast<double>(drawn.tokens + decoding_.given - 1), decoding_.length_penalty);
  }
  for (GeneratedText& text : texts) {
    DecodedText decoded = decoded_whole(tokenizer_, text.tokens, decoding_.stop);
    text.text = std::move(decoded.text);
    text.ended = text.ended || decoded.stopped;
  }
  return texts;
}

}  // namespace encore::infer
