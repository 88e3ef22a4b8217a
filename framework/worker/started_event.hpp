// SPDX-License-Identifier: BSD-3-Clause
// Makes the event Started: what a worker reports about itself, its model and its data before the first step,
// so that a run can be described from the database alone. train_verb.cpp -> spool -> store
// (attempt.started_event) -> report/method.cpp, report/data.cpp. Members of the event are stored and keep
// their names.
#pragma once

#include "apply/application_run.hpp"
#include "distributed/communicator.hpp"
#include "infer/setup.hpp"
#include "record/events.hpp"

namespace encore::worker {

/// The parts of a run that the event describes.
struct RunParts {
  const plugin_host::Registry& registry;
  const model::Model& model;
  const Tokenizer& tokenizer;
  const Task& task;
  const tasks::TaskSets* sets = nullptr;  ///< null: the run reads no data
};
/// Returns the event. All ranks must call it; `threads` is the number of threads of each rank. Members of the
/// event are stored and keep their names.
record::Started started_event(const RunParts& parts, int threads, distributed::Communicator& ranks);

/// Returns the event of an application, which has no model of its own. The numeric environment names the
/// plugins of its steps and of the models that they ask; `plugins` names those of the steps.
record::Started started_event(const apply::ApplicationRun& run, const Device& device, int threads);

/// Returns sizes of a set, the task's counts, the histogram of lengths, and how many rows have each label as
/// their target. `labels`: the names of the classes; empty if the task has none. `unknown`: the token that
/// the tokenizer gives for characters that it does not know.
record::SetFacts set_facts(const ExampleSet& set, const std::vector<std::string>& labels,
                           const SetDescription& description, std::int32_t unknown);

}  // namespace encore::worker
