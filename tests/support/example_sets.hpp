// SPDX-License-Identifier: BSD-3-Clause
// Makes example sets (ExampleSet) from plain lists, for tests of tasks (unit/plugins), of packing and batches
// (unit/data) and of generation (seams).
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include <encore/outputs.hpp>

namespace encore {

/// Makes sets of lists. keep() stores a list and returns a span of it; a set that set() returns keeps all
/// these lists alive.
class SetBuilder {
 public:
  using Numbers = std::vector<std::int32_t>;

  std::span<const std::int32_t> keep(Numbers values) { return lists_->emplace_back(std::move(values)); }
  std::span<const float> keep(std::vector<float> values) { return reals_->emplace_back(std::move(values)); }
  ExampleSet set(ExampleArrays arrays) const {
    return {std::move(arrays), std::make_shared<Lists>(Lists{lists_, reals_})};
  }

 private:
  struct Lists {
    std::shared_ptr<std::list<Numbers>> integers;
    std::shared_ptr<std::list<std::vector<float>>> numbers;
  };
  std::shared_ptr<std::list<Numbers>> lists_ = std::make_shared<std::list<Numbers>>();
  std::shared_ptr<std::list<std::vector<float>>> reals_ = std::make_shared<std::list<std::vector<float>>>();
};

/// Returns outputs with one output of integers, whose values are given row by row.
inline Outputs outputs_of(const ExampleSet& set, const OutputRule& rule,
                          const std::vector<std::int32_t>& values) {
  Outputs outputs(set, {rule});
  outputs.all().front().integers = values;
  return outputs;
}

/// Returns lengths from 3 to 63 in no order that batches could depend on.
inline std::vector<std::int32_t> some_lengths(std::int32_t count) {
  std::vector<std::int32_t> lengths;
  for (std::int32_t i = 0; i < count; ++i) lengths.push_back(3 + (i * 7919) % 61);
  return lengths;
}

/// Returns a set in which example i is one sequence of lengths[i] rows with the id 10 + i and the target i on
/// row 1.
inline ExampleSet set_of_lengths(const std::vector<std::int32_t>& lengths) {
  SetBuilder builder;
  SetBuilder::Numbers ids, targets;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    for (std::int32_t row = 0; row < lengths[i]; ++row) {
      ids.push_back(static_cast<std::int32_t>(10 + i));
      targets.push_back(row == 1 ? static_cast<std::int32_t>(i) : no_target);
    }
  return builder.set(
      {.lengths = builder.keep(lengths),
       .ids = builder.keep(ids),
       .columns = {{.rule = {.name = targets_column, .truth = true}, .integers = builder.keep(targets)}}});
}

}  // namespace encore
