// SPDX-License-Identifier: BSD-3-Clause
// Packer: copies the numbers of the examples to the places that packed_batch.cpp has computed, sequence by
// sequence. The trainer and the evaluators call pack() for each batch. It checks every number with which a
// kernel indexes; these checks must stay. Read packing.hpp first.
#include "data/packing.hpp"

#include <algorithm>

#include <encore/error.hpp>

namespace encore::data {
namespace {

constexpr std::size_t absent = static_cast<std::size_t>(-1);

void count_up(std::size_t length, std::size_t first, std::vector<std::int32_t>& positions) {
  for (std::size_t i = 0; i < length; ++i) positions.push_back(static_cast<std::int32_t>(first + i));
}

/// Returns what a loss over these values is divided by.
double weight_of(const EncodedExample::Column& column) {
  double weight = 0.0;
  for (const std::int32_t value : column.integers) weight += value == no_target ? 0.0 : 1.0;
  for (const float value : column.numbers) weight += static_cast<double>(value);
  return weight;
}

}  // namespace

// --- what a model needs of a set ---

Packer::Packer(const ExampleSet& set, BatchNeeds needs, Packing packing)
    : set_(set), needs_(std::move(needs)), packing_(packing), segments_(absent) {
  if (set.has_target() && packing.batching == config::Batching::padded)
    throw Error("examples with a second text cannot be padded; set train.batching = \"packed\"");
  if (needs_.target && !set.has_target() && set.size() > 0)
    throw Error("the model has a decoder ([model.decoder]), and the task gives no second text for it");
  find_columns();
  require_numbers();
}

void Packer::find_columns() {
  if (needs_.picked) {
    picked_ = set_.column(picked_column);
    if (set_.columns()[picked_].rule.space != Space::ragged)
      throw Error("the column \"picked\" of a task names rows, so its space must be Space::ragged");
  }
  if (needs_.segments > 0 && set_.has_column(segments_column)) {
    segments_ = set_.column(segments_column);
    ENCORE_REQUIRE(set_.columns()[segments_].rule == ColumnRule{.name = segments_column},
                   "segments are integers over tokens");
  }
  for (const ColumnNeed& need : needs_.columns) {
    if (!set_.has_column(need.name)) {
      found_.push_back(absent);
      continue;
    }
    const std::size_t column = set_.column(need.name);
    const ColumnRule& rule = set_.columns()[column].rule;
    ENCORE_REQUIRE(rule.space == need.space && rule.type == need.type && rule.width == need.width,
                   "the model was built for the columns of this task");
    found_.push_back(column);
  }
}

/// Checks all numbers once, because kernels index with them without a further check.
void Packer::require_numbers() const {
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const ColumnNeed& need = needs_.columns[i];
    if (found_[i] == absent || need.below == 0) continue;
    for (const std::int32_t value : set_.columns()[found_[i]].integers) require_below(need, value);
  }
  for (std::size_t s = 0; s < set_.sequence_count() && segments_ != absent; ++s)
    require_segments(set_.integers(segments_, s), s);
  if (!needs_.picked) return;
  for (std::size_t s = 0; s < set_.sequence_count(); ++s)
    require_rows(set_.integers(picked_, s), set_.ids(s).size(), s);
}

void Packer::require_below(const ColumnNeed& need, std::int32_t value) {
  if (value == no_target || (value >= 0 && value < need.below)) return;
  throw Error("the task gives " + std::to_string(value) + " in the column \"" + need.name +
              "\", and the head takes numbers below " + std::to_string(need.below));
}

void Packer::require_segments(std::span<const std::int32_t> segments, std::size_t sequence) const {
  for (const std::int32_t segment : segments)
    if (segment < 0 || segment >= needs_.segments)
      throw Error("the task gives segment " + std::to_string(segment) + " in sequence " +
                  std::to_string(sequence + 1) + ", and the model has " + std::to_string(needs_.segments) +
                  (needs_.segments == 1 ? " segment" : " segments") + ", from 0 (model.segments)");
}

void Packer::require_rows(std::span<const std::int32_t> rows, std::size_t length, std::size_t sequence) {
  std::int64_t last = -1;
  for (const std::int32_t row : rows) {
    if (row <= last || row >= static_cast<std::int64_t>(length))
      throw Error("the task picks row " + std::to_string(row) + " of sequence " +
                  std::to_string(sequence + 1) + ", which has " + std::to_string(length) +
                  " rows; picked rows ascend");
    last = row;
  }
}

// --- examples that are drawn again in each epoch ---

void Packer::draw(const Task& task, std::uint64_t seed, std::int64_t epoch) {
  task_ = task.draws() ? &task : nullptr;
  draw_ = {.seed = seed, .epoch = epoch, .example = 0};
}

/// Counts the values of drawn_, by kind.
void Packer::count_values(std::vector<std::size_t>& counts) const {
  counts = {drawn_.ids.size(), drawn_.target_ids.size()};
  for (const EncodedExample::Column& column : drawn_.columns) {
    counts.push_back(column.integers.size());
    counts.push_back(column.numbers.size());
  }
}

/// Sets drawn_ to the example as the task draws it in this epoch.
void Packer::redraw(std::size_t example) {
  const Run of = set_.sequences(example);
  drawn_.clear();
  drawn_.columns.resize(set_.columns().size());
  for (std::size_t s = of.first; s < of.first + of.count; ++s) {
    const auto add = [](const auto& from, auto& to) { to.insert(to.end(), from.begin(), from.end()); };
    add(set_.ids(s), drawn_.ids);
    add(set_.target_ids(s), drawn_.target_ids);
    for (std::size_t c = 0; c < drawn_.columns.size(); ++c) {
      if (set_.columns()[c].rule.type == ColumnType::integers)
        add(set_.integers(c, s), drawn_.columns[c].integers);
      else
        add(set_.numbers(c, s), drawn_.columns[c].numbers);
    }
    drawn_.end_sequence();
  }
  count_values(counts_);
  draw_.example = example;
  task_->redraw(draw_, drawn_);
  count_values(drawn_counts_);
  if (counts_ != drawn_counts_)
    throw Error("redraw of example " + std::to_string(example + 1) + " changes how many values it has");
  const auto require_ids = [&](const std::vector<std::int32_t>& ids, std::int64_t tokens) {
    for (const std::int32_t id : ids)
      if (id < 0 || id >= tokens)
        throw Error("redraw of example " + std::to_string(example + 1) + " gives the id " +
                    std::to_string(id) + ", and the vocabulary has " + std::to_string(tokens) + " tokens");
  };
  require_ids(drawn_.ids, needs_.vocabulary);
  require_ids(drawn_.target_ids, needs_.targets);
}

// --- the numbers ---

void Packer::pack(std::span<const std::int32_t> members, PackedBatch& batch) {
  lay_out(set_, members, packing_, batch);
  for (std::vector<std::int32_t>* rows : {&batch.ids, &batch.positions, &batch.target.ids,
                                          &batch.target.positions, &batch.picked, &batch.segments})
    rows->clear();
  batch.columns.resize(needs_.columns.size());
  batch.known.clear();
  for (const std::size_t column : found_) batch.known.push_back(column != absent);
  for (EncodedExample::Column& column : batch.columns) {
    column.integers.clear();
    column.numbers.clear();
  }
  std::size_t place = 0;  // among the batch's sequences
  for (const std::int32_t member : members) {
    const auto example = static_cast<std::size_t>(member);
    if (task_ != nullptr) redraw(example);
    const Run of = set_.sequences(example);
    for (std::size_t s = of.first; s < of.first + of.count; ++s) {
      append(s, of.first, batch);
      ++place;
      if (place == batch.sequences.size() || batch.sequences[place] != static_cast<std::int64_t>(s)) continue;
      append_padding(static_cast<std::size_t>(batch.offsets[++place]) - batch.ids.size(), set_.ids(s).size(),
                     batch);
    }
  }
  batch.weights.clear();
  for (const int column : needs_.losses)
    batch.weights.push_back(column == every_row ? static_cast<double>(batch.ids.size())
                                                : weight_of(batch.columns[static_cast<std::size_t>(column)]));
}

/// Returns the values of one sequence: those of the set, or those of the drawn example at the same places.
template <class T>
std::span<const T> Packer::values(std::span<const T> of_sequence, std::span<const T> of_first,
                                  const std::vector<T>& drawn) const {
  if (task_ == nullptr) return of_sequence;
  return std::span(drawn).subspan(static_cast<std::size_t>(of_sequence.data() - of_first.data()),
                                  of_sequence.size());
}

void Packer::append(std::size_t s, std::size_t first, PackedBatch& batch) {
  const auto add = [](const auto& from, auto& to) { to.insert(to.end(), from.begin(), from.end()); };
  const std::size_t row = batch.ids.size(), length = set_.ids(s).size();
  add(values(set_.ids(s), set_.ids(first), drawn_.ids), batch.ids);
  count_up(length, 0, batch.positions);
  add(values(set_.target_ids(s), set_.target_ids(first), drawn_.target_ids), batch.target.ids);
  count_up(set_.target_ids(s).size(), 0, batch.target.positions);
  if (needs_.picked) {
    const auto picks = values(set_.integers(picked_, s), set_.integers(picked_, first),
                              drawn_.columns.empty() ? drawn_.ids : drawn_.columns[picked_].integers);
    if (task_ != nullptr) require_rows(picks, length, s);
    for (const std::int32_t pick : picks) batch.picked.push_back(static_cast<std::int32_t>(row) + pick);
  }
  if (segments_ != absent) {
    const auto segments = values(set_.integers(segments_, s), set_.integers(segments_, first),
                                 drawn_.columns.empty() ? drawn_.ids : drawn_.columns[segments_].integers);
    if (task_ != nullptr) require_segments(segments, s);
    add(segments, batch.segments);
  }
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const std::size_t c = found_[i];
    if (c == absent) continue;
    const EncodedExample::Column none, &drawn = task_ != nullptr ? drawn_.columns[c] : none;
    add(values(set_.numbers(c, s), set_.numbers(c, first), drawn.numbers), batch.columns[i].numbers);
    const auto integers = values(set_.integers(c, s), set_.integers(c, first), drawn.integers);
    if (task_ != nullptr && needs_.columns[i].below > 0)
      for (const std::int32_t value : integers) require_below(needs_.columns[i], value);
    add(integers, batch.columns[i].integers);
  }
}

/// Appends padding. Its positions continue after the sequence, so that no two rows share their random
/// numbers.
void Packer::append_padding(std::size_t length, std::size_t first_position, PackedBatch& batch) {
  batch.ids.insert(batch.ids.end(), length, packing_.padding_id);
  count_up(length, first_position, batch.positions);
  if (segments_ != absent) batch.segments.insert(batch.segments.end(), length, 0);
  for (std::size_t i = 0; i < found_.size(); ++i) {
    if (found_[i] == absent) continue;
    const ColumnRule& rule = set_.columns()[found_[i]].rule;
    const std::size_t rows = rule.space == Space::tokens ? length : rule.space == Space::sequences ? 1 : 0;
    const std::size_t count = rows * static_cast<std::size_t>(rule.width);
    if (rule.type == ColumnType::integers)
      batch.columns[i].integers.insert(batch.columns[i].integers.end(), count, no_target);
    else
      batch.columns[i].numbers.insert(batch.columns[i].numbers.end(), count, 0.0F);
  }
}

}  // namespace encore::data
