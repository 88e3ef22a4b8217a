// SPDX-License-Identifier: BSD-3-Clause
// diff: compares two runs: settings, data, host, build, and the drift of their weights and losses.
// cli/diff_verb.cpp prints the result.
#pragma once

#include <optional>
#include <vector>

#include "analysis/difference.hpp"
#include "app/run_selection.hpp"
#include "runner/drift.hpp"

namespace encore::app {

struct DiffRequest {
  bool drift = false;
  std::optional<double> tolerance;  ///< relative; not written: default_tolerance
  bool json = false, csv = false;
  SelectionRequest selection;
};

Form<DiffRequest> diff_form();

struct RunDifference {
  store::RunRow a, b;
  bool a_told = true,
       b_told = true;  ///< false: the run has not started, so only settings and data are compared
  std::vector<analysis::Difference> found;
  std::optional<runner::DriftReport> drift;  ///< none: not asked for
};

RunDifference diff(const DiffRequest& request, const App& app);

}  // namespace encore::app
