// SPDX-License-Identifier: BSD-3-Clause
// Factor: a setting in which some runs differ. A setting that changes only because another one does, such as
// an option of a type, belongs to the factor of the other one. factors_of() is called once for a report
// (report/report_data.cpp), and by `exp ls` and `exp compare`. Nothing is stored; tables have a column for
// each factor, so another rule changes their columns.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "store/run_batch.hpp"

namespace encore::analysis {

/// A setting that differs between runs, with the others that always change together with it. Two settings
/// that a sweep, a search or the command line has varied are two factors, even if they change together.
struct Factor {
  std::string name;                    ///< of the setting that names it best: "model.layers"
  std::string label;                   ///< the shortest ending of `name` that no other factor has: "layers"
  std::vector<std::string> keys;       ///< the keys of all its settings, sorted
  std::vector<nlohmann::json> levels;  ///< its values, sorted; null: the runs that have no such setting
  std::vector<std::size_t> level;      ///< index into `levels`, for each run
  bool numeric = false;                ///< all levels are numbers
};

/// Returns the factors sorted by name. The seed and settings that only describe a run are left out.
std::vector<Factor> factors_of(const std::vector<store::RunRow>& runs,
                               const store::RunBatch::ByRun<store::ParamRow>& params);

/// Returns a level for users: "absent" for null.
std::string level_text(const nlohmann::json& level);

}  // namespace encore::analysis
