// Factors: the settings that are not the same in all of some runs; what changes only because another setting
// does, such as the options of a type, is one with that. Place in the flow: a report asks once
// (report/report_data.cpp), `exp compare` for its key (report/candidate_key.hpp).
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "store/run_batch.hpp"

namespace encore {

/// A setting that is not the same in all runs, with others that always change together with it. Two that were
/// varied by a sweep, a search or the command line are two factors, whatever their values.
struct Factor {
  std::string name;                    ///< of the setting that names it best: "model.layers"
  std::string label;                   ///< the shortest end of it that no other factor has: "layers"
  std::vector<std::string> keys;       ///< all of them, sorted
  std::vector<nlohmann::json> levels;  ///< its values, sorted; null: the runs that have no such setting
  std::vector<std::size_t> level;      ///< of each run
  bool numeric = false;                ///< all levels are numbers
};

/// Without the seed, and without what only describes a run. By name.
std::vector<Factor> factors_of(const std::vector<RunRow>& runs, const RunBatch::ByRun<ParamRow>& params);

/// A level as people read it: "absent" for null.
std::string level_text(const nlohmann::json& level);

}  // namespace encore
