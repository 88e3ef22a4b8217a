// SPDX-License-Identifier: BSD-3-Clause
// Implements input_use.hpp: asks a task how it has read an input, and writes it as members of an answer. The
// worker's verbs, apply/asked_run.cpp and library/encore_infer.cpp call it. Read input_use.hpp first.
#include "tasks/input_use.hpp"

#include <nlohmann/json.hpp>

#include <encore/reads_windows.hpp>

#include "base/readable_text.hpp"

namespace encore::tasks {

InputUse input_use(const Task& task, const ExampleSet& set, std::size_t example) {
  InputUse use{.left_out = task.left_out(set, example)};
  if (const auto* reads = dynamic_cast<const ReadsWindows*>(&task))
    use.windows = reads->windows(set, example);
  return use;
}

nlohmann::json members_of(const InputUse& use) {
  nlohmann::json members = nlohmann::json::object();
  if (use.windows > 1) members["windows"] = use.windows;
  if (!use.left_out.empty()) members["truncated"] = use.left_out;
  return members;
}

std::string cut_note(std::span<const InputUse> uses) {
  std::size_t cut = 0, first = 0;
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (!uses[i].left_out.empty() && ++cut == 1) first = i;
  if (cut == 0) return "";
  return std::to_string(cut) + " of " + counted(uses.size(), "record") + (cut == 1 ? " is" : " are") +
         " longer than a model reads; record " + std::to_string(first + 1) + ": " + uses[first].left_out;
}

}  // namespace encore::tasks
