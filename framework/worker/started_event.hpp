// The event Started: what a worker reports of itself, its model and its data before the first step, so that a
// run can be described from the database alone. Place in the flow: train_verb.cpp -> spool -> store
// (attempt.started_event) -> report/method.cpp, report/data.cpp.
#pragma once

#include "record/events.hpp"
#include "train/session.hpp"

namespace encore {

Started started_event(Session& session, int threads);

/// Sizes of a set, what the task counted in it, the histogram of lengths, and how many rows have each label
/// as their target. `unknown` is the tokenizer's piece for what it does not know.
SetFacts set_facts(const ExampleSet& set, const std::vector<std::string>& labels,
                   const SetDescription& description, std::int32_t unknown);

}  // namespace encore
