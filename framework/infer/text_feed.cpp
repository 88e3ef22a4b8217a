// SPDX-License-Identifier: BSD-3-Clause
// Implements TextFeed: packs the rows that the model has not read yet, and runs passes of a Generation over
// them. TextWriter calls it. Which rows share a pass must not change a bit of the logits. Read text_feed.hpp
// first, model/generation.hpp next.
#include "infer/text_feed.hpp"

#include <algorithm>
#include <numeric>

#include <encore/error.hpp>

namespace encore::infer {
namespace {

/// The largest number of rows of a pass that reads prompts; the head has memory for its rows too.
constexpr std::int64_t rows_at_once = 128;

bool has_decoder(const model::Model& model) {
  return model.needs().target;
}

}  // namespace

std::span<const std::int32_t> prompt_of(const model::Model& model, const Decoding& decoding,
                                        const ExampleSet& set, std::size_t sequence) {
  // If the true target is known, the decoder may see only the tokens that are given.
  return has_decoder(model) ? set.target_ids(sequence).first(static_cast<std::size_t>(decoding.given))
                            : set.ids(sequence);
}

TextFeed::TextFeed(model::Model& model, const Decoding& decoding, const ExampleSet& set,
                   std::span<const std::size_t> sequences, std::int64_t times, std::int64_t capacity)
    : model_(model),
      set_(set),
      sequences_(sequences.begin(), sequences.end()),
      times_(times),
      capacity_(capacity),
      most_rows_(std::max(rows_at_once, std::ssize(sequences) * times)),
      has_sources_(has_decoder(model)) {
  for (const std::size_t sequence : sequences) {
    const std::span<const std::int32_t> prompt = prompt_of(model, decoding, set, sequence);
    texts_.push_back({.tokens = {prompt.begin(), prompt.end()}});
  }
  generation_ = model.make_generation(largest_pass(capacity), capacity);
}

BatchSize TextFeed::largest_pass(std::int64_t capacity) const {
  const std::int64_t texts = std::ssize(sequences_) * times_;
  const RowSetSize written = {.tokens = most_rows_,
                              .sequences = texts,
                              .squares = most_rows_ * std::min(most_rows_, capacity),
                              .longest = std::min(most_rows_, capacity)};
  BatchSize largest;
  if (!has_sources_) {
    static_cast<RowSetSize&>(largest) = written;
    largest.picked = model_.needs().picked ? most_rows_ : 0;
    return largest;
  }
  const RowSetSize read = sources().size();
  static_cast<RowSetSize&>(largest) = {.tokens = read.tokens * times_,
                                       .sequences = texts,
                                       .squares = read.squares * times_,
                                       .longest = read.longest};
  largest.target = written;
  return largest;
}

data::PackedRows TextFeed::sources() const {
  data::PackedRows rows;
  rows.offsets = {0};
  for (const std::size_t sequence : sequences_) {
    const std::span<const std::int32_t> ids = set_.ids(sequence);
    rows.ids.insert(rows.ids.end(), ids.begin(), ids.end());
    for (std::size_t i = 0; i < ids.size(); ++i) rows.positions.push_back(static_cast<std::int32_t>(i));
    rows.offsets.push_back(static_cast<std::int32_t>(rows.ids.size()));
  }
  return rows;
}

std::int64_t TextFeed::unread(std::size_t text) const {
  const Text& of = texts_[text];
  const std::int64_t read = begun_ ? generation_->lengths()[text] : 0;
  return of.ended ? 0 : std::ssize(of.tokens) - static_cast<std::int64_t>(of.first) - read;
}

/// Keeps the second half of a text as context, because its next row would have no position.
void TextFeed::slide(std::size_t text) {
  Text& of = texts_[text];
  of.first = of.tokens.size() - static_cast<std::size_t>((capacity_ + 1) / 2);
  if (begun_) generation_->restart(static_cast<std::int64_t>(text));
}

void TextFeed::read() {
  for (std::size_t text = 0; text < texts_.size(); ++text)
    if (!texts_[text].ended &&
        std::ssize(texts_[text].tokens) - static_cast<std::int64_t>(texts_[text].first) > capacity_)
      slide(text);
  std::vector<std::int64_t> counts(texts_.size());
  for (;;) {  // all but the last row of each text, whose logits are not needed
    std::int64_t left = most_rows_;
    for (std::size_t text = 0; text < texts_.size(); ++text)
      left -= counts[text] = std::min(left, std::max<std::int64_t>(unread(text) - 1, 0));
    if (left == most_rows_) break;
    pass(counts, model::Generation::Until::states);
  }
  rows_.clear();
  for (std::size_t text = 0; text < texts_.size(); ++text) {
    counts[text] = texts_[text].ended ? 0 : 1;
    if (!texts_[text].ended) rows_.push_back(text);
  }
  if (!rows_.empty()) pass(counts, model::Generation::Until::logits);
}

void TextFeed::pass(const std::vector<std::int64_t>& counts, model::Generation::Until until) {
  data::PackedBatch batch;
  data::PackedRows rows;
  batch.borders = rows.offsets = {0};
  for (std::size_t text = 0; text < texts_.size(); ++text) {
    const Text& of = texts_[text];
    const std::int64_t done = begun_ ? generation_->lengths()[text] : 0;
    for (std::int64_t position = done; position < done + counts[text]; ++position) {
      rows.ids.push_back(of.tokens[of.first + static_cast<std::size_t>(position)]);
      rows.positions.push_back(static_cast<std::int32_t>(position));
    }
    rows.offsets.push_back(static_cast<std::int32_t>(rows.ids.size()));
    batch.sequences.push_back(static_cast<std::int64_t>(text));
    batch.borders.push_back(static_cast<std::int32_t>(text + 1));
  }
  batch.columns.resize(model_.needs().columns.size());
  batch.known.assign(batch.columns.size(), false);
  if (has_sources_) {
    batch.target = std::move(rows);
    batch.offsets.assign(texts_.size() + 1, 0);
    if (!begun_) static_cast<data::PackedRows&>(batch) = sources();
  } else {
    static_cast<data::PackedRows&>(batch) = std::move(rows);
    if (model_.needs().picked) {
      batch.picked.resize(batch.ids.size());
      std::iota(batch.picked.begin(), batch.picked.end(), 0);
    }
  }
  begun_ ? generation_->next(batch, until) : generation_->begin(batch, until);
  begun_ = true;
}

Tensor TextFeed::logits() const {
  return generation_->tensor("head.logits");
}

void TextFeed::repeat() {
  generation_->repeat(times_);
  std::vector<Text> texts;
  for (const Text& text : texts_) texts.insert(texts.end(), static_cast<std::size_t>(times_), text);
  texts_ = std::move(texts);
}

void TextFeed::copy(std::span<const model::Generation::TextCopy> copies) {
  generation_->copy(copies);
  for (const model::Generation::TextCopy& each : copies)
    texts_[static_cast<std::size_t>(each.to)] = texts_[static_cast<std::size_t>(each.from)];
}

void TextFeed::append(std::size_t text, std::int32_t token) {
  texts_[text].tokens.push_back(token);
}

}  // namespace encore::infer
