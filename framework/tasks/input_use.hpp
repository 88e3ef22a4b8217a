// SPDX-License-Identifier: BSD-3-Clause
// InputUse: how a task has read a long input: in several windows, or without a part. The worker's verbs, the
// server and the C library add it to answers, so that no answer hides that text was dropped. Clients read the
// members `windows` and `truncated`, so their names must stay. Read next: encore/reads_windows.hpp.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <encore/examples.hpp>
#include <encore/task.hpp>

namespace encore::tasks {

struct InputUse {
  std::size_t windows = 1;
  std::string left_out = {};  ///< what the answer does not depend on (Task::left_out); "": nothing
};

InputUse input_use(const Task& task, const ExampleSet& set, std::size_t example);

/// Returns the members of an answer: `windows`, the number, if there are several, and `truncated`, the text
/// of left_out, if there is one. The object is empty for an input that was read as one sequence.
nlohmann::json members_of(const InputUse& use);

/// Returns a note about the records of a set that were cut, with the first of them, or "" if none was: "2 of
/// 120 records are longer than a model reads; record 5: its label does not depend on its last 3 tokens".
std::string cut_note(std::span<const InputUse> uses);

}  // namespace encore::tasks
