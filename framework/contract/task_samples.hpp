// SPDX-License-Identifier: BSD-3-Clause
// TaskSamples: the data of the checks of tasks: encoded sets, statistics, and outputs of a perfect model and
// of a poor one. task_checks.cpp and task_output_checks.cpp compare them. The truth must stay the best
// output, or correct tasks fail.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <encore/reader.hpp>
#include <encore/task.hpp>

#include "contract/sample_records.hpp"
#include "contract/suite.hpp"

namespace encore::contract {

/// A task under test with records of the fields that it reads.
class TaskSamples {
 public:
  /// Two values of max_length: one with room for every sample, and one that cuts most of them.
  static constexpr std::int64_t roomy = 256, narrow = 8;

  /// `optional`: the fields among those that the task can do without which the records have.
  TaskSamples(const Offer& offer, const CheckData& data, std::vector<std::string> optional = {})
      : offer_(offer), data_(data), optional_(std::move(optional)) {}

  const Offer& offer() const { return offer_; }
  const TaskFields& needs() const { return offer_.needs; }
  /// Returns the fields of the records that exist at prediction too.
  std::vector<std::string> structure() const;
  std::unique_ptr<Task> make(std::int64_t max_length) const;
  /// Returns a task that has prepared itself on the training set.
  std::unique_ptr<Task> prepared(std::int64_t max_length) const;
  Records train() const { return records_of(SampleSet::train); }
  Records other() const { return records_of(SampleSet::other); }
  static ExampleSet encoded(const Task& task, const Records& records, std::int64_t max_length = roomy);

 private:
  /// Returns the records of the author's file if a reader of the plugin gives the fields that the task needs,
  /// else samples.
  Records records_of(SampleSet set) const;
  Records read_by(const Offer& reader, std::span<const InputText> files,
                  const std::vector<std::string>& fields) const;

  const Offer& offer_;
  CheckData data_;
  std::vector<std::string> optional_;
};

/// Returns the checks of outputs and measures, which are a part of task_checks().
std::vector<Check> task_output_checks(const TaskSamples& samples);

bool equal(const ExampleSet& a, const ExampleSet& b);
bool equal(const Statistics& a, const Statistics& b);

/// Returns outputs of a perfect model: each has the values of the column that OutputRule::truth names, 0
/// without such a column. The generated text of a task (Task::decoding) is the truth of `records`, the
/// records of the set: its first field with text.
Outputs perfect_outputs(const Task& task, const ExampleSet& set, const TaskFields& fields,
                        const Records& records);
/// Returns whether perfect_outputs() can make every output of the task.
bool knows_truth(const Task& task);
/// Other valid numbers: classes of the task, values of the truth. Generated text has a few tokens.
Outputs arbitrary_outputs(const Task& task, const ExampleSet& set, std::uint32_t seed);

/// Returns the rule of logits that the task reads beside the output `classes`: logits over its space. Empty
/// if the task reads no such output.
std::optional<OutputRule> logits_rule(const Task& task);
/// Adds arbitrary logits; `classes` become the classes with the largest.
void add_logits(const OutputRule& rule, const ExampleSet& set, std::uint32_t seed, Outputs& outputs);

}  // namespace encore::contract
