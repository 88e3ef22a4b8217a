// SPDX-License-Identifier: BSD-3-Clause
// HeadMemory: allocates the states, columns and outputs that a head declares, for one batch, in shapes that
// follow from its declarations. head_trial.cpp, onnx_check.cpp and testing.cpp use it. The memory may be no
// larger than declared, or writes outside are not found. Read head_memory.hpp first.
#include "contract/head_memory.hpp"

#include <algorithm>

namespace encore::contract {
namespace {

DType element_type(ColumnType type) {
  return type == ColumnType::integers ? DType::int32 : DType::float32;
}

std::vector<std::int64_t> shape_of(std::int64_t rows, std::int64_t width) {
  if (width == 1) return {rows};
  return {rows, width};
}

std::vector<Tensor> bound(const std::vector<OwnedTensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}

}  // namespace

SpaceRows rows_in(const OwnedBatch& batch, Space space) {
  SpaceRows rows;
  rows.first.push_back(0);
  const auto add = [&](std::int64_t row, std::int64_t example, std::int64_t position) {
    rows.rows.push_back(row);
    rows.examples.push_back(example);
    rows.positions.push_back(position);
  };
  for (std::size_t s = 0; s + 1 < batch.offsets().size(); ++s) {
    const std::int64_t first = batch.offsets()[s], end = batch.offsets()[s + 1];
    if (space == Space::sequences)
      add(first, first < end ? batch.example(first) : static_cast<std::int64_t>(s), 0);
    for (std::int64_t row = first; row < end && space != Space::sequences; ++row)
      if (space == Space::tokens || batch.position(row) % 3 != 1)
        add(row, batch.example(row), batch.position(row));
    rows.first.push_back(rows.count());
  }
  return rows;
}

HeadMemory::HeadMemory(const Device& device, Head& head, std::int64_t width, const OwnedBatch& batch,
                       DType type, std::uint64_t seed, double noise)
    : device_(device), batch_(batch), plan_(width) {
  head.declare(plan_);
  const SpaceRows picked = rows_in(batch, Space::picked);
  const BatchSize size = {batch.batch().size, {}, picked.count()};
  picked_ = OwnedTensor(DType::int32, {picked.count()});
  picked_.set({picked.rows.begin(), picked.rows.end()});
  memory_ = std::make_unique<OwnedPlan>(device, plan_, size, type, seed, noise);
  for (const Space space : plan_.reads()) {
    const std::vector<std::int64_t> shape = {size.rows(space), width};
    inputs_.emplace_back(type, shape);
    input_gradients_.emplace_back(type, shape);
  }
  for (const ColumnNeed& need : plan_.columns()) {
    columns_.emplace_back(element_type(need.type), shape_of(size.rows(need.space), need.width));
    columns_.back().fill(need.type == ColumnType::integers ? no_target : 0.0);
  }
  for (const OutputRule& rule : plan_.outputs())
    outputs_.emplace_back(element_type(rule.type), shape_of(size.rows(rule.space), rule.width));
  for (std::size_t i = 0; i < plan_.losses().size(); ++i) {
    losses_.emplace_back(sum_type(type), std::vector<std::int64_t>{size.rows(plan_.loss_space(i))});
    scales_.push_back(0.7 + 0.4 * static_cast<double>(i));  // different, so that a mix-up changes the result
  }
  if (plan_.learns_from_teacher()) {
    const ClassScores& scores = plan_.class_scores().value();
    teacher_scores_ = OwnedTensor(type, std::vector<std::int64_t>{size.rows(scores.space), scores.classes});
    teacher_scores_.fill(0.0);
  }
  bound_inputs_ = bound(inputs_);
  bound_gradients_ = bound(input_gradients_);
  bound_columns_ = bound_structure_ = bound(columns_);
  bound_outputs_ = bound_usual_outputs_ = bound(outputs_);
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (plan_.outputs()[i].on_request) bound_usual_outputs_[i] = {};
  bound_losses_ = bound(losses_);
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (is_truth(i)) bound_structure_[i] = {};
}

bool HeadMemory::is_truth(std::size_t column) const {
  const bool normalizes = std::ranges::find(plan_.losses(), static_cast<int>(column)) != plan_.losses().end();
  return normalizes || plan_.columns()[column].below > 0;
}

std::string HeadMemory::overrun() const {
  std::string found = teacher_scores_.overrun("the teacher's scores");
  for (std::size_t i = 0; i < losses_.size() && found.empty(); ++i)
    found = losses_[i].overrun(i == 0 ? "the losses" : "the losses " + std::to_string(i));
  for (std::size_t i = 0; i < outputs_.size() && found.empty(); ++i)
    found = outputs_[i].overrun("output \"" + plan_.outputs()[i].name + "\"");
  for (std::size_t i = 0; i < columns_.size() && found.empty(); ++i)
    found = columns_[i].overrun("column \"" + plan_.columns()[i].name + "\"");
  return found;
}

bool HeadMemory::has_requested() const {
  return std::ranges::any_of(plan_.outputs(), &OutputRule::on_request);
}

HeadStep HeadMemory::step_with(bool training, bool truth, const std::vector<Tensor>& outputs) const {
  return {device_,
          batch_.batch(),
          training,
          memory_->bound(training),
          {bound_inputs_, bound_gradients_, truth ? bound_columns_ : bound_structure_, outputs, bound_losses_,
           scales_, picked_, training && plan_.learns_from_teacher() ? teacher_scores_.tensor() : Tensor()}};
}

}  // namespace encore::contract
