#include "cli/worker_answer.hpp"

#include <iostream>

#include <nlohmann/json.hpp>

#include "config/json_text.hpp"

namespace encore {

namespace {

/// What a worker that refused its work has said, without its name in front and the line end behind.
std::string message_of(const ProgramOutput& answer) {
  const std::string prefix = "encore-worker: ";
  std::string text = answer.errors.starts_with(prefix) ? answer.errors.substr(prefix.size()) : answer.errors;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "the worker ended with " + answer.end.text() : text;
}

}  // namespace

nlohmann::ordered_json worker_answer(const std::filesystem::path& worker,
                                     const std::vector<std::string>& arguments, const std::string& input,
                                     const ProgramWatch& watch) {
  const ProgramOutput answer = run_program(worker, arguments, input, watch);
  if (answer.end.signal != 0) throw Error("the worker ended with " + answer.end.text());
  if (!answer.end.success()) throw Error(message_of(answer));
  std::cerr << answer.errors;
  return parse_json<nlohmann::ordered_json>(answer.output);
}

}  // namespace encore
