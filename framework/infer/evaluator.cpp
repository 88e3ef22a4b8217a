// SPDX-License-Identifier: BSD-3-Clause
// Implements Evaluator: forms batches, runs the model over them without dropout, decodes on the device, and
// returns each output to the sequence it belongs to. train/trainer.cpp and Engine call it. Sums are added
// batch by batch in one order, so that scores do not depend on the number of ranks; keep that order. Read
// evaluator.hpp first.
#include "infer/evaluator.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "infer/generator.hpp"

namespace encore::infer {
namespace {

DType type_of(const OutputRule& rule) {
  return rule.type == ColumnType::integers ? DType::int32 : DType::float32;
}

/// Sets `rows` to the rows where each of the batch's sequences begins in a space, and where the last one
/// ends.
void first_rows(const data::PackedBatch& batch, Space space, std::vector<std::int64_t>& rows) {
  rows.clear();
  for (std::size_t s = 0; s < batch.offsets.size(); ++s) {
    const std::int64_t row = batch.offsets[s];
    rows.push_back(space == Space::tokens   ? row
                   : space == Space::target ? batch.target.offsets[s]
                   : space == Space::sequences
                       ? static_cast<std::int64_t>(s)
                       : std::lower_bound(batch.picked.begin(), batch.picked.end(), row) -
                             batch.picked.begin());
  }
}

void add(std::span<const double> values, std::vector<double>& to) {
  for (std::size_t i = 0; i < values.size(); ++i) to[i] += values[i];
}

/// Returns the bytes of the values of a sequence's rows.
std::span<std::byte> bytes_of(Outputs::Values& values, const ExampleSet& set, std::size_t sequence) {
  const Run of = set.rows(values.rule.space, sequence);
  const auto width = static_cast<std::size_t>(values.rule.width);
  const auto part = [&](auto& all) {
    return std::as_writable_bytes(std::span(all).subspan(of.first * width, of.count * width));
  };
  return values.rule.type == ColumnType::integers ? part(values.integers) : part(values.numbers);
}

/// Returns whether the set has all columns that the model reads. Only those of the truth may be missing.
bool has_truth(const ExampleSet& set, const data::BatchNeeds& needs) {
  return std::ranges::all_of(needs.columns,
                             [&](const ColumnNeed& need) { return set.has_column(need.name); });
}

}  // namespace

std::optional<TextGeneration> text_generation(const Task& task, const Tokenizer& tokenizer) {
  if (const std::optional<Decoding> decoding = task.decoding()) return TextGeneration{&tokenizer, *decoding};
  return {};
}

data::EvaluationOrder evaluation_order(const model::Model& model) {
  return model.couples_sequences() ? data::EvaluationOrder::as_stored : data::EvaluationOrder::by_length;
}

Evaluator::Evaluator(model::Model& model, const BatchSize& largest, const data::BatchOptions& options,
                     std::optional<TextGeneration> texts, distributed::Communicator& ranks,
                     Collected collected)
    : model_(model),
      options_(options),
      texts_(std::move(texts)),
      ranks_(ranks),
      collected_(collected),
      batch_(model.device(), largest, model.needs()) {
  for (const OutputRule& rule : model.outputs()) {
    if (!collects(rule)) {
      outputs_.emplace_back();
      continue;
    }
    rules_.push_back(rule);
    const auto values = static_cast<std::size_t>(largest.rows(rule.space) * rule.width);
    memory_.emplace_back("encore::outputs", values * size_of(type_of(rule)));
    Tensor output(memory_.back().data(), type_of(rule), {0});
    if (rule.width > 1) output = Tensor(output.data, output.dtype, {0, rule.width});
    outputs_.push_back(output);
  }
}

Evaluation Evaluator::run(const ExampleSet& set, const EvaluationWatch& watch) {
  Evaluation result = {.outputs = Outputs(set, rules_)};
  data::Packer packer(set, model_.needs());
  std::vector<double> losses(model_.needs().losses.size()), weights(losses.size());
  bool known = set.size() > 0;
  Batches batches;
  if (!texts_ || has_truth(set, model_.needs()))
    batches = data::plan_evaluation(data::example_lengths(set), options_, evaluation_order(model_));
  else
    known = false;
  // For each batch: 1 if its loss is known, else 0; the sum of each loss; the weight of each loss.
  std::vector<std::vector<double>> sums(batches.size(), std::vector<double>(1 + 2 * losses.size()));
  std::size_t done = 0;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    if (is_of(ranks_.rank(), b)) {
      packer.pack(batches[b], packed_);
      score(sums[b]);
      collect(set, result.outputs);
    }
    done += batches[b].size();
    if (watch) watch({.done = done, .all = set.sequence_count()});
  }
  if (ranks_.size() > 1) share(set, batches, sums, result.outputs);
  for (const std::vector<double>& of_batch : sums) {
    const std::span values = std::span(of_batch).subspan(1);
    known = known && of_batch.front() != 0.0;
    add(values.first(losses.size()), losses);
    add(values.subspan(losses.size()), weights);
  }
  for (std::size_t i = 0; i < losses.size(); ++i)
    result.loss += weights[i] > 0.0 ? losses[i] / weights[i] : 0.0;
  if (!weights.empty() && std::ranges::none_of(weights, [](double weight) { return weight > 0.0; }))
    known = false;
  if (!known) result.loss = std::numeric_limits<double>::quiet_NaN();
  if (!texts_) return result;
  const auto written = [&](std::size_t sequences) {
    if (watch) watch({.writes = true, .done = sequences, .all = set.sequence_count()});
  };
  result.outputs.set_texts(Generator(model_, *texts_->tokenizer).run(set, texts_->decoding, {}, written));
  return result;
}

/// Scores the batch in packed_ and adds its losses to `sums`, which is as in run().
void Evaluator::score(std::vector<double>& sums) {
  batch_.upload(packed_);
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (const OutputRule& rule = model_.outputs()[i]; collects(rule))
      outputs_[i].extents[0] = packed_.size().rows(rule.space);
  const double* losses = model_.evaluate(batch_, outputs_);
  const auto weights = sums.end() - static_cast<std::ptrdiff_t>(packed_.weights.size());
  std::ranges::copy(packed_.weights, weights);
  if (losses == nullptr) return;
  sums.front() = 1.0;
  std::ranges::copy(model_.read_losses(losses), sums.begin() + 1);
}

/// Returns whether this rank scores the batch: each of N ranks scores every N-th one.
bool Evaluator::is_of(int rank, std::size_t batch) const {
  return batch % static_cast<std::size_t>(ranks_.size()) == static_cast<std::size_t>(rank);
}

/// Calls `use` for each part of the results of a rank, in an order that is the same on all ranks: for each of
/// its batches the sums, then the outputs of its sequences.
template <class Use>
void Evaluator::each_piece(int rank, const ExampleSet& set, const Batches& batches,
                           std::vector<std::vector<double>>& sums, Outputs& outputs, const Use& use) const {
  for (std::size_t b = 0; b < batches.size(); ++b) {
    if (!is_of(rank, b)) continue;
    use(std::as_writable_bytes(std::span(sums[b])));
    for (const std::int32_t member : batches[b]) {
      const Run of = set.sequences(static_cast<std::size_t>(member));
      for (Outputs::Values& values : outputs.all())
        for (std::size_t s = of.first; s < of.first + of.count; ++s) use(bytes_of(values, set, s));
    }
  }
}

/// Exchanges results, so that all ranks have the sums and outputs of all batches.
void Evaluator::share(const ExampleSet& set, const Batches& batches, std::vector<std::vector<double>>& sums,
                      Outputs& outputs) {
  using Bytes = std::span<std::byte>;
  std::vector<std::vector<std::byte>> from(static_cast<std::size_t>(ranks_.size()));
  std::vector<std::byte>& mine = from[static_cast<std::size_t>(ranks_.rank())];
  each_piece(ranks_.rank(), set, batches, sums, outputs,
             [&](Bytes piece) { mine.insert(mine.end(), piece.begin(), piece.end()); });
  std::vector<distributed::Outgoing> outgoing;
  std::vector<distributed::Incoming> incoming;
  for (int r = 0; r < ranks_.size(); ++r) {
    if (r == ranks_.rank()) continue;
    std::size_t size = 0;
    each_piece(r, set, batches, sums, outputs, [&](Bytes piece) { size += piece.size(); });
    std::vector<std::byte>& theirs = from[static_cast<std::size_t>(r)];
    theirs.resize(size);
    outgoing.push_back({.to = r, .bytes = mine});
    incoming.push_back({.from = r, .bytes = theirs});
  }
  ranks_.exchange(outgoing, incoming);
  for (int r = 0; r < ranks_.size(); ++r) {
    if (r == ranks_.rank()) continue;
    const std::byte* next = from[static_cast<std::size_t>(r)].data();
    each_piece(r, set, batches, sums, outputs, [&](Bytes piece) {
      std::copy_n(next, piece.size(), piece.begin());
      next += piece.size();
    });
  }
}

/// Copies values from the rows of the batch to those of the set.
void Evaluator::collect(const ExampleSet& set, Outputs& outputs) {
  auto next = outputs.all().begin();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!collects(model_.outputs()[i])) continue;
    const Tensor& output = outputs_[i];
    Outputs::Values& values = *next++;
    const Space space = values.rule.space;
    host_.resize(output.bytes());
    memory::copy_to_host(model_.device(), output, host_.data());
    const std::size_t row_bytes = static_cast<std::size_t>(values.rule.width) * sizeof(std::int32_t);
    first_rows(packed_, space, first_rows_);
    for (std::size_t s = 0; s < packed_.sequences.size(); ++s) {
      const std::span<std::byte> to = bytes_of(values, set, static_cast<std::size_t>(packed_.sequences[s]));
      std::memcpy(to.data(), host_.data() + static_cast<std::size_t>(first_rows_[s]) * row_bytes, to.size());
    }
  }
}

}  // namespace encore::infer
