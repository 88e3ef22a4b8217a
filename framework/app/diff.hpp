// SPDX-License-Identifier: BSD-3-Clause
// diff(): compares two runs: settings, data, host, build, and with --drift how far their weights and losses
// are apart. cli/diff_verb.cpp calls it and prints the result; analysis/difference.hpp finds the differences.
// The result is not stored.
#pragma once

#include <optional>
#include <vector>

#include "analysis/difference.hpp"
#include "app/run_selection.hpp"
#include "runner/drift.hpp"

namespace encore::app {

struct DiffRequest {
  bool drift = false;               ///< also compare checkpoints and losses, which takes longer
  std::optional<double> tolerance;  ///< relative; not given: runner/drift.hpp chooses it
  bool json = false, csv = false;
  SelectionRequest selection;
};

Form<DiffRequest> diff_form();

struct RunDifference {
  store::RunRow a, b;  ///< in the order of the command line
  bool a_told = true,
       b_told = true;  ///< false: the run has not started, so only settings and data are compared
  std::vector<analysis::Difference> found;   ///< the value of a first
  std::optional<runner::DriftReport> drift;  ///< nothing without --drift
};

/// Throws UsageError or UnknownRun unless the request selects exactly two runs.
RunDifference diff(const DiffRequest& request, const App& app);

}  // namespace encore::app
