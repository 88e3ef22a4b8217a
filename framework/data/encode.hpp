// SPDX-License-Identifier: BSD-3-Clause
// Turns records into numbers: a task encodes them one by one, on several threads. The flow is: Records (a
// reader's) + Task + Tokenizer -> ExampleSet -> batch_plan.hpp, packing.hpp. tasks/task_sets.cpp calls it for
// training, infer/engine.cpp for predictions. The order of the examples is that of the records and must stay.
#pragma once

#include <cstddef>
#include <cstdint>

#include <encore/task.hpp>

namespace encore::data {

/// An Error of Task::encode, with the number of the record in front: "record 3: invalid level 4.5".
class RefusedRecord : public Error {
 public:
  using Error::Error;
};

/// Encodes the records of a set, or a part of it, with a task and a tokenizer. `threads`: how many encode at
/// once.
/// Returns the records in their order, an example for each. Leaves out truth columns that every record leaves
/// empty. The number of threads changes only the time. Throws RefusedRecord for a record that the task
/// refuses. Throws Error if the task gives a sequence that is empty or longer than max_length, columns that
/// do not fit it, or an id outside the vocabulary. Both number the records from 1, behind `earlier` records
/// of the set.
ExampleSet encode_records(const Task& task, const Records& records, const Tokenizer& tokenizer,
                          std::int64_t max_length, int threads = 1, std::size_t earlier = 0);

}  // namespace encore::data
