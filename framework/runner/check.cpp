// SPDX-License-Identifier: BSD-3-Clause
// check_with_worker(): sends all specifications of a plan to one `encore-worker check` process and turns its
// answers into problems at places of the experiment file. The answer names options; their places are known
// only here. app/planned_runs.cpp and other planners call it. It stores nothing. Read check.hpp first.
#include "runner/check.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "record/check_request.hpp"
#include "runner/worker_process.hpp"

namespace encore::runner {

std::vector<config::Problem> check_with_worker(
    const std::filesystem::path& worker, const std::vector<const record::Specification*>& specifications,
    const std::function<void(std::size_t, std::size_t)>& checked) {
  record::CheckRequest request;
  std::vector<const record::Specification*> asked;
  for (const record::Specification* specification : specifications)
    if (request.add(*specification)) asked.push_back(specification);
  if (asked.empty()) return {};
  std::size_t done = 0;
  const auto seen = [&](std::string_view text) {
    done += record::checks_per_line * static_cast<std::size_t>(std::ranges::count(text, '\n'));
    if (checked) checked(std::min(done, asked.size()), asked.size());
  };
  const ProgramOutput answer = run_program(worker, {"check"}, request.text(), {.seen = seen});
  const nlohmann::json found = json_or_null(answer.output);
  const bool sensible =
      answer.end.signal == 0 && found.is_array() && (answer.end.success() || !found.empty());
  if (!sensible)
    throw Error(worker.string() + " check ended with " + answer.end.text() + " and no answer" +
                (answer.errors.empty() ? "" : ":\n" + answer.errors));

  config::Problems problems;
  for (const auto& [index, key, message] : from_json_object<std::vector<record::CheckProblem>>(found)) {
    if (index >= asked.size()) throw Error(worker.string() + " check answered about an unknown run");
    const record::Specification& specification = *asked[index];
    const config::Place place = key.empty() ? config::Place() : config::place_of(specification.origin, key);
    problems.add(place, key, place.known() || key.empty() ? message : key + ": " + message);
  }
  return problems.all();
}

}  // namespace encore::runner
