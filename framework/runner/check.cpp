// See check.hpp.
#include "runner/check.hpp"

#include <nlohmann/json.hpp>

#include "record/check_request.hpp"
#include "runner/worker_process.hpp"

namespace encore {

std::vector<Problem> check_with_worker(const std::filesystem::path& worker,
                                       const std::vector<const Specification*>& specifications) {
  // The places stay here: the answer names options.
  CheckRequest request;
  std::vector<const Specification*> asked;
  for (const Specification* specification : specifications)
    if (request.add(*specification)) asked.push_back(specification);
  if (asked.empty()) return {};
  const ProgramOutput answer = run_program(worker, {"check"}, request.text());
  const nlohmann::json found = nlohmann::json::parse(answer.output, nullptr, false);
  const bool sensible =
      answer.end.signal == 0 && found.is_array() && (answer.end.success() || !found.empty());
  if (!sensible)
    throw Error(worker.string() + " check ended with " + answer.end.text() + " and no answer" +
                (answer.errors.empty() ? "" : ":\n" + answer.errors));

  Problems problems;
  for (const nlohmann::json& problem : found) {
    const auto index = problem.at("index").get<std::size_t>();
    if (index >= asked.size())
      throw Error(worker.string() + " check answered about a run that was not asked");
    const Specification& specification = *asked[index];
    const std::string key = problem.at("key").get<std::string>();
    const std::string message = problem.at("message").get<std::string>();
    const Place place = key.empty() ? Place() : place_of(specification.origin, key);
    problems.add(place, key, place.known() || key.empty() ? message : key + ": " + message);
  }
  return problems.all();
}

}  // namespace encore
