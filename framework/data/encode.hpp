// SPDX-License-Identifier: BSD-3-Clause
// Turns records into numbers: a task encodes them one by one, on several threads. The flow is: Records (a
// reader's) + Task + Tokenizer -> ExampleSet -> batch_plan.hpp, packing.hpp.
#pragma once

#include <cstdint>

#include <encore/task.hpp>

namespace encore {

/// Returns one example for each record, in their order. Leaves out truth columns that every record leaves
/// empty. The number of threads changes only the time. Throws Error if the task gives a sequence that is
/// empty or longer than max_length, columns that do not fit it, or an id outside the vocabulary.
ExampleSet encode_records(const Task& task, const Records& records, const Tokenizer& tokenizer,
                          std::int64_t max_length, int threads = 1);

}  // namespace encore
