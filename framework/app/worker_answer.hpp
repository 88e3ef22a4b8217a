// What a worker answers to a question about a trained model, as JSON on its standard output.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/app.hpp"
#include "base/json_fields.hpp"
#include "base/json_text.hpp"

namespace encore {

/// Runs the worker to its end, with `input` on its standard input. How far it is (record/answer_progress.hpp)
/// and what it says beside its answer go to `events`. Throws Error with its own message where it refuses.
std::string worker_answer_text(Events& events, const std::filesystem::path& worker,
                               const std::vector<std::string>& arguments, const std::string& input = "");

/// Of an answer that lacks a field, or has another type there.
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

}  // namespace encore
