// SPDX-License-Identifier: BSD-3-Clause
// The first half of the task "mlm": encodes records as windows with masks. The number of masked rows of a
// window depends only on its tokens; which rows, on a key: the content in `encode`; seed, epoch and example
// in `redraw`. redraw has no tokenizer, so a column stores what it must know of the vocabulary. Trainer and
// inference call it through Task. Read mlm.hpp first; answers.cpp is the second half.
#include "mlm.hpp"

#include <algorithm>

#include "masking.hpp"
#include "next_text.hpp"
#include "word_counts.hpp"

namespace encore::mlm {
namespace {

constexpr const char* knowledge_text = "mlm\n";

/// The epoch of the key for dev and test sets, and for a training set before its first epoch.
constexpr std::int64_t no_epoch = -1;

std::vector<std::int32_t> specials_of(const Tokenizer& tokenizer) {
  std::vector<std::int32_t> numbers;
  for (const Special role : all_specials)
    if (const std::optional<std::int32_t> number = tokenizer.find(role)) numbers.push_back(*number);
  std::ranges::sort(numbers);
  const auto [begin, end] = std::ranges::unique(numbers);
  numbers.erase(begin, end);
  return numbers;
}

/// Returns the FNV-1a hash (Fowler, Noll and Vo) of the numbers of tokens.
std::uint64_t hash_of(std::span<const std::int32_t> ids) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const std::int32_t id : ids) hash = (hash ^ static_cast<std::uint32_t>(id)) * 0x100000001B3U;
  return hash;
}

/// Returns the values of one window of an example, after all its windows are encoded.
template <class T>
std::span<T> of_window(std::vector<T>& values, const std::vector<std::int32_t>& ends, std::size_t window) {
  const auto begin = window == 0 ? 0 : static_cast<std::size_t>(ends[window - 1]);
  return std::span(values).subspan(begin, static_cast<std::size_t>(ends[window]) - begin);
}

}  // namespace

Schema Mlm::options() {
  return Schema()
      .number("probability", 0.15,
              {.help = "share of the tokens of each sequence that the model must predict, at least one token",
               .min = 0.0,
               .max = 1.0,
               .exclusive_min = true})
      .boolean(
          "whole_word", false,
          {.help =
               "mask whole words; to reach the exact share, one word of a sequence may be masked in part"})
      .boolean(
          "next_sentence", false,
          {.help = "cut each sequence in two, and replace the second part of half of them by text of another "
                   "record; the model also predicts whether it was replaced"});
}

std::vector<Measure> Mlm::measures() {
  return {{.name = "perplexity",
           .help = "e^(mean loss of the masked tokens); a model that chooses among N equally likely tokens "
                   "has the perplexity N",
           .better = Better::lower,
           .reducer = Reducer::exponential,
           .columns = {"loss", "masked"}},
          {.name = "accuracy",
           .title = "masked accuracy",
           .help = "share of the masked tokens that the model predicts correctly",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = {"correct", "masked"}},
          {.name = "next_accuracy",
           .title = "next sentence accuracy",
           .help = "share of the sequences for which the model predicts correctly whether the second part "
                   "was replaced; with next_sentence",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = {"next_correct", "pairs"},
           .always = false}};
}

Mlm::Mlm(const Options& options, const TaskContext& context)
    : max_length_(static_cast<std::size_t>(context.max_length)),
      probability_(options.number("probability")),
      whole_word_(options.flag("whole_word")),
      next_sentence_(options.flag("next_sentence")) {
  ENCORE_REQUIRE(context.max_length >= 3, "max_length must leave room for the two markers and one token");
  if (next_sentence_ && context.max_length < 5)
    throw OptionError("next_sentence", "a pair needs three markers and two tokens, and data.max_length is " +
                                           std::to_string(context.max_length));
}

// --- what the training set decides ---

void Mlm::prepare(const Records& train) {
  if (train.texts("text").empty()) throw Error("the training set has no text to learn from");
  if (next_sentence_ && train.size() < 2)
    throw Error(
        "the training set is one record, but next_sentence takes half of the second parts from others: set "
        "data.record = \"paragraph\", or name several files");
}

std::string Mlm::knowledge() const {
  return knowledge_text;
}

void Mlm::restore(std::string_view knowledge) {
  if (knowledge != knowledge_text)
    throw Error("the run has labels of another task; masked language modelling has no labels");
}

TextCounts Mlm::text_counts(const Records& train) const {
  tasks::WordCounts counts;
  for (const std::string& text : train.texts("text")) counts.add(text);
  return counts.sorted();
}

// --- encoding ---

std::vector<ColumnRule> Mlm::columns() const {
  std::vector<ColumnRule> rules = {
      {.name = picked_column, .space = Space::ragged},
      {.name = targets_column, .space = Space::picked},  // no_target where the truth is not known
      // For the first window: the number of tokens in the vocabulary, the mask token, all special tokens.
      {.name = "specials", .space = Space::ragged}};
  if (whole_word_) rules.push_back({.name = "words", .space = Space::ragged});  // the word of each row
  if (next_sentence_) {
    rules.push_back({.name = "next", .space = Space::sequences});  // follows, is_of_elsewhere, no_target
    rules.push_back({.name = segments_column, .space = Space::tokens});
  }
  return rules;
}

std::vector<OutputRule> Mlm::outputs() const {
  std::vector<OutputRule> rules = {
      {.name = candidates_output, .space = Space::picked, .width = 0},
      {.name = probabilities_output, .space = Space::picked, .type = ColumnType::numbers, .width = 0},
      {.name = losses_output, .space = Space::picked, .type = ColumnType::numbers}};
  if (next_sentence_) rules.push_back({.name = next_output, .space = Space::sequences});
  return rules;
}

Mlm::Text Mlm::text_of(const std::string& text, const Tokenizer& tokenizer) const {
  Text result;
  if (!whole_word_) {
    tokenizer.encode(text, result.tokens);
    return result;
  }
  std::vector<ByteRange> ranges;
  tokenizer.encode(text, result.tokens, ranges);
  result.words = number_words(text, ranges);
  return result;
}

void Mlm::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                 EncodedExample& to) const {
  const bool typed = records.has(typed_field);
  if (typed) remember_names(tokenizer);
  const std::vector<std::int32_t> special_tokens = specials_of(tokenizer);
  const Tokens tokens = {.count = static_cast<std::int32_t>(tokenizer.vocabulary().size()),
                         .mask = tokenizer.special(Special::mask),
                         .specials = special_tokens};
  to.integers(specials).push_back(tokens.count);
  to.integers(specials).push_back(tokens.mask);
  to.integers(specials).insert(to.integers(specials).end(), special_tokens.begin(), special_tokens.end());
  const std::string& said = records.texts("text")[record];
  const std::size_t tab = typed && next_sentence_ ? said.find('\t') : std::string::npos;
  const Text text = text_of(said.substr(0, tab), tokenizer);
  if (tab != std::string::npos) {
    const Text second = text_of(said.substr(tab + 1), tokenizer);
    const std::size_t room = max_length_ - 3, kept = std::min(text.tokens.size(), room - 1);
    const Part parts[] = {part_of(text, 0, kept),
                          part_of(second, 0, std::min(second.tokens.size(), room - kept))};
    return append_window(parts, no_target, tokenizer, tokens, typed, to);
  }
  if (next_sentence_ && !typed && records.size() > 1)
    return encode_pairs(text, records, record, tokenizer, tokens, to);
  const std::size_t room = max_length_ - 2;
  std::size_t begin = 0;
  do {
    const std::size_t end = std::min(begin + room, text.tokens.size());
    const Part part = part_of(text, begin, end);
    append_window({&part, 1}, no_target, tokenizer, tokens, typed, to);
    begin = end;
  } while (begin < text.tokens.size());
}

/// Encodes text pairs. If the second text is from another record, the next window begins where the first
/// text's continuation would have begun.
void Mlm::encode_pairs(const Text& text, const Records& records, std::size_t record,
                       const Tokenizer& tokenizer, const Tokens& tokens, EncodedExample& to) const {
  constexpr std::size_t bytes_of_token = 16;  // more than nearly every token has
  const std::size_t room = max_length_ - 3;
  std::size_t begin = 0;
  do {
    const std::size_t end = std::min(begin + room, text.tokens.size());
    Part parts[] = {part_of(text, begin, end), {}};
    if (end - begin < 2) return append_window(std::span(parts, 1), no_target, tokenizer, tokens, false, to);
    const Draw draw(0, no_epoch, hash_of(parts[0].tokens), 0);
    const PairDraw drawn = draw_pair(end - begin, draw);
    const std::size_t cut = begin + drawn.first, most = end - cut;
    Text other;
    if (!drawn.stays)
      other =
          text_of(text_of_elsewhere(records.texts("text"), record, bytes_of_token * most, draw), tokenizer);
    const bool stays = other.tokens.empty();
    parts[0] = part_of(text, begin, cut);
    parts[1] = stays ? part_of(text, cut, end) : part_of(other, 0, std::min(most, other.tokens.size()));
    append_window(parts, stays ? follows : is_of_elsewhere, tokenizer, tokens, false, to);
    begin = stays ? end : cut;
  } while (begin < text.tokens.size());
}

Mlm::Part Mlm::part_of(const Text& text, std::size_t begin, std::size_t end) {
  Part part;
  part.tokens = std::span(text.tokens).subspan(begin, end - begin);
  if (!text.words.empty()) part.words = std::span(text.words).subspan(begin, end - begin);
  return part;
}

void Mlm::append_window(std::span<const Part> texts, std::int32_t next, const Tokenizer& tokenizer,
                        const Tokens& tokens, bool typed, EncodedExample& to) const {
  const std::size_t first_row = to.ids.size();
  const auto append = [&](std::int32_t token, std::int32_t word, std::size_t text) {
    to.ids.push_back(token);
    if (whole_word_)
      to.integers(words).push_back(std::ranges::binary_search(tokens.specials, token) ? no_word : word);
    if (next_sentence_) to.integers(next_column() + 1).push_back(static_cast<std::int32_t>(text));
  };
  append(tokenizer.special(Special::start), no_word, 0);
  for (std::size_t text = 0; text < texts.size(); ++text) {
    for (std::size_t i = 0; i < texts[text].tokens.size(); ++i)
      append(texts[text].tokens[i], whole_word_ ? texts[text].words[i] : no_word, text);
    append(tokenizer.special(Special::end), no_word, text);
  }
  if (next_sentence_) to.integers(next_column()).push_back(next);
  if (typed)
    pick_masks(first_row, tokens, to);
  else
    mask_window(first_row, tokens, to);
  to.end_sequence();
}

/// Masks the rows from `first_row` on, which are one window.
void Mlm::mask_window(std::size_t first_row, const Tokens& tokens, EncodedExample& to) const {
  const std::span<std::int32_t> ids = std::span(to.ids).subspan(first_row);  // (T)
  const std::vector<std::int32_t> singles =
      whole_word_ ? std::vector<std::int32_t>() : single_tokens(ids, tokens);
  const std::span<const std::int32_t> word_of =
      whole_word_ ? std::span<const std::int32_t>(to.integers(words)).subspan(first_row)
                  : std::span<const std::int32_t>(singles);  // (T)
  const std::size_t count = count_picks(word_of, probability_), before = to.integers(picked).size();
  to.integers(picked).resize(before + count);
  to.integers(targets).resize(before + count);
  const std::span<std::int32_t> rows = std::span(to.integers(picked)).subspan(before);  // (M)
  const Draw draw(0, no_epoch, hash_of(ids), 0);
  pick_rows(word_of, draw, rows);
  mask_rows(rows, tokens, draw, ids, std::span(to.integers(targets)).subspan(before));
}

/// Picks the rows of a window in which a user wrote the mask token. Their targets are unknown, and no token
/// is replaced.
void Mlm::pick_masks(std::size_t first_row, const Tokens& tokens, EncodedExample& to) {
  for (std::size_t row = first_row; row < to.ids.size(); ++row) {
    if (to.ids[row] != tokens.mask) continue;
    to.integers(picked).push_back(static_cast<std::int32_t>(row - first_row));
    to.integers(targets).push_back(no_target);
  }
}

void Mlm::redraw(const ExampleDraw& draw, EncodedExample& to) const {
  const std::vector<std::int32_t>& known = to.integers(specials);
  const Tokens tokens = {.count = known[0], .mask = known[1], .specials = std::span(known).subspan(2)};
  for (std::size_t window = 0; window < to.ends.size(); ++window) {
    const std::span<std::int32_t> ids = of_window(to.ids, to.ends, window);  // (T)
    const std::span<std::int32_t> rows =
        of_window(to.integers(picked), to.columns[picked].counts, window);  // (M)
    const std::span<std::int32_t> truth =
        of_window(to.integers(targets), to.columns[targets].counts, window);  // (M)
    restore_rows(rows, truth, ids);
    const Draw drawn(draw.seed, draw.epoch, draw.example, window);
    if (whole_word_)
      pick_rows(of_window(to.integers(words), to.columns[words].counts, window), drawn, rows);
    else
      pick_rows(single_tokens(ids, tokens), drawn, rows);
    mask_rows(rows, tokens, drawn, ids, truth);
  }
}

SetDescription Mlm::describe(const ExampleSet& set) const {
  const std::size_t sequences = set.sequence_count(), masked = set.rows(Space::picked);
  std::int64_t pairs = 0, following = 0;
  for (std::size_t s = 0; next_sentence_ && s < sequences; ++s) {
    const std::int32_t next = set.integers(next_column(), s).front();
    pairs += next == no_target ? 0 : 1;
    following += next == follows ? 1 : 0;
  }
  const std::int64_t markers = 2 * static_cast<std::int64_t>(sequences) + pairs;
  SetDescription description;
  description.counts = {{"windows", static_cast<std::int64_t>(sequences)},
                        {"pieces", static_cast<std::int64_t>(set.rows(Space::tokens)) - markers},
                        {"masked pieces", static_cast<std::int64_t>(masked)}};
  if (next_sentence_) {
    description.counts.emplace_back("pairs", pairs);
    description.counts.emplace_back("pairs that follow", following);
  }
  if (masked == 0 && set.size() > 0)
    description.notes.push_back("no token is masked: the tokenizer knows none of the text");
  return description;
}

}  // namespace encore::mlm
