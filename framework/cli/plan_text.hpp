// What `exp plan` shows of planned runs: why each would be done or left alone, how long it will take, and
// where each value comes from; as text and as JSON.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/planned_runs.hpp"
#include "cli/run_time.hpp"
#include "cli/terminal.hpp"

namespace encore {

/// The planned runs that are shown, with what they will take.
struct PlanView {
  const PlannedRuns& planned;
  std::vector<std::size_t> shown;  ///< indices of planned.runs
  std::vector<std::optional<TimeEstimate>>
      times;  ///< of every run of the plan; nothing for one that is not to do
  int jobs = 1;

  /// Of all runs to do that a time is known of, `jobs` at once.
  double seconds() const;
  /// How many runs to do have no time.
  std::size_t unknown() const;
};

void print_plan(std::ostream& out, const Terminal& terminal, const PlanView& view);
/// Every option with its value and origin: once for all runs that are shown; where they differ, what they
/// have.
void print_values(std::ostream& out, const Terminal& terminal, const PlanView& view);
nlohmann::ordered_json plan_json(const PlanView& view, bool with_values);

}  // namespace encore
