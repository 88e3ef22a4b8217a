// SPDX-License-Identifier: BSD-3-Clause
// worker_answer() starts a worker with arguments about a trained model, relays its progress, and returns its
// answer: JSON on the worker's standard output. embed, evaluate, quantize, retrain, plan --size, plugin ls,
// attention and export call it. The struct of each answer is in record/, which the worker writes by; a worker
// of an older build may lack a member, and that is an error here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/app.hpp"
#include "base/json_fields.hpp"
#include "base/json_text.hpp"

namespace encore::app {

/// Runs the worker to its end, with `input` on its standard input. Its progress (record/answer_progress.hpp)
/// and other output go to `events`. Throws Error with the worker's message if it fails.
std::string worker_answer_text(Events& events, const std::filesystem::path& worker,
                               const std::vector<std::string>& arguments, const std::string& input = "");

/// Throws Error that names the worker, its verb and the field of its answer that is missing or has another
/// type.
[[noreturn]] void refuse_answer(const std::filesystem::path& worker,
                                const std::vector<std::string>& arguments, const FieldError& error);

/// The same, read as the answer of the verb, such as record/size_answer.hpp.
template <class Answer>
Answer worker_answer(Events& events, const std::filesystem::path& worker,
                     const std::vector<std::string>& arguments, const std::string& input = "") {
  const std::string text = worker_answer_text(events, worker, arguments, input);
  try {
    return from_json_object<Answer>(parse_json(text));
  } catch (const FieldError& error) {
    refuse_answer(worker, arguments, error);
  }
}

}  // namespace encore::app
