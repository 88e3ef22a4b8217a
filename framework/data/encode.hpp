// Records to numbers: a task encodes them one by one, on several threads.
// Place in the flow: Records (a reader's) + Task + Tokenizer -> ExampleSet -> batch_plan.hpp, packing.hpp.
#pragma once

#include <cstdint>

#include <encore/task.hpp>

namespace encore {

/// The records in their order, an example each; truth columns that every record leaves empty are left out.
/// The number of threads changes nothing but the time. Throws Error when the task gives a sequence that is
/// empty or longer than max_length, columns that do not fit it, or an id that the vocabulary does not have.
ExampleSet encode_records(const Task& task, const Records& records, const Tokenizer& tokenizer,
                          std::int64_t max_length, int threads = 1);

}  // namespace encore
