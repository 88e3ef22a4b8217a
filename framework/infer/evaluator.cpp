// Evaluator: batches, decode on the device, outputs back to the sequences they belong to.
#include "infer/evaluator.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "infer/generator.hpp"

namespace encore {
namespace {

DType type_of(const OutputRule& rule) {
  return rule.type == ColumnType::integers ? DType::int32 : DType::float32;
}

/// Where the rows of each of the batch's sequences begin in a space, and where the last one's end.
std::vector<std::int64_t> first_rows(const PackedBatch& batch, Space space) {
  std::vector<std::int64_t> rows;
  for (std::size_t s = 0; s < batch.offsets.size(); ++s) {
    const std::int64_t row = batch.offsets[s];
    rows.push_back(space == Space::tokens   ? row
                   : space == Space::target ? batch.target.offsets[s]
                   : space == Space::sequences
                       ? static_cast<std::int64_t>(s)
                       : std::lower_bound(batch.picked.begin(), batch.picked.end(), row) -
                             batch.picked.begin());
  }
  return rows;
}

void add(std::span<const double> values, std::vector<double>& to) {
  for (std::size_t i = 0; i < values.size(); ++i) to[i] += values[i];
}

/// Only columns of the truth may be missing.
bool has_truth(const ExampleSet& set, const BatchNeeds& needs) {
  return std::ranges::all_of(needs.columns,
                             [&](const ColumnNeed& need) { return set.has_column(need.name); });
}

}  // namespace

std::optional<TextGeneration> text_generation(const Task& task, const Tokenizer& tokenizer) {
  if (const std::optional<Decoding> decoding = task.decoding()) return TextGeneration{&tokenizer, *decoding};
  return {};
}

EvaluationOrder evaluation_order(const Model& model) {
  return model.couples_sequences() ? EvaluationOrder::as_stored : EvaluationOrder::by_length;
}

Evaluator::Evaluator(Model& model, const BatchSize& largest, const BatchOptions& options,
                     std::optional<TextGeneration> texts)
    : model_(model),
      options_(options),
      texts_(std::move(texts)),
      batch_(model.device(), largest, model.needs()) {
  for (const OutputRule& rule : model.outputs()) {
    const auto values = static_cast<std::size_t>(largest.rows(rule.space) * rule.width);
    memory_.emplace_back("encore::outputs", values * size_of(type_of(rule)));
    Tensor output(memory_.back().data(), type_of(rule), {0});
    if (rule.width > 1) output = Tensor(output.data, output.dtype, {0, rule.width});
    outputs_.push_back(output);
  }
}

Evaluation Evaluator::run(const ExampleSet& set, const EvaluationWatch& watch) {
  Evaluation result = {.outputs = Outputs(set, model_.outputs())};
  Packer packer(set, model_.needs());
  std::vector<double> losses(model_.needs().losses.size()), weights(losses.size());
  bool known = set.size() > 0;
  std::size_t done = 0;
  std::vector<std::vector<std::int32_t>> batches;
  if (!texts_ || has_truth(set, model_.needs()))
    batches = plan_evaluation(example_lengths(set), options_, evaluation_order(model_));
  else
    known = false;
  for (const std::vector<std::int32_t>& members : batches) {
    packer.pack(members, packed_);
    batch_.upload(packed_);
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      outputs_[i].extents[0] = packed_.size().rows(model_.outputs()[i].space);
    const double* sums = model_.evaluate(batch_, outputs_);
    known = known && sums != nullptr;
    if (sums != nullptr) add(model_.read_losses(sums), losses);
    add(packed_.weights, weights);
    collect(set, result.outputs);
    done += members.size();
    if (watch) watch({.done = done, .all = set.sequence_count()});
  }
  for (std::size_t i = 0; i < losses.size(); ++i)
    result.loss += weights[i] > 0.0 ? losses[i] / weights[i] : 0.0;
  if (!known) result.loss = std::numeric_limits<double>::quiet_NaN();
  if (!texts_) return result;
  const auto written = [&](std::size_t sequences) {
    if (watch) watch({.writes = true, .done = sequences, .all = set.sequence_count()});
  };
  result.outputs.set_texts(Generator(model_, *texts_->tokenizer).run(set, texts_->decoding, {}, written));
  return result;
}

/// From the rows of the batch to those of the set.
void Evaluator::collect(const ExampleSet& set, Outputs& outputs) {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    Outputs::Values& values = outputs.all()[i];
    const Space space = values.rule.space;
    host_.resize(outputs_[i].bytes());
    copy_to_host(model_.device(), outputs_[i], host_.data());
    const std::size_t row_bytes = static_cast<std::size_t>(values.rule.width) * sizeof(std::int32_t);
    auto* to = values.rule.type == ColumnType::integers ? reinterpret_cast<std::byte*>(values.integers.data())
                                                        : reinterpret_cast<std::byte*>(values.numbers.data());
    const std::vector<std::int64_t> rows = first_rows(packed_, space);
    for (std::size_t s = 0; s < packed_.sequences.size(); ++s) {
      const Run of = set.rows(space, static_cast<std::size_t>(packed_.sequences[s]));
      std::memcpy(to + of.first * row_bytes, host_.data() + static_cast<std::size_t>(rows[s]) * row_bytes,
                  of.count * row_bytes);
    }
  }
}

}  // namespace encore
