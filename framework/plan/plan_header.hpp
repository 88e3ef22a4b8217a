// SPDX-License-Identifier: BSD-3-Clause
// PlanHeader: what all runs of an experiment file share: name, note, tags, seeds. Place in the flow: plan.cpp
// and search/search_plan.cpp read it, point_maker.cpp gives it to every run. None of these counts in the
// identity of a run, except its seed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "config/error.hpp"
#include "config/experiment_file.hpp"
#include "config/option_places.hpp"
#include "config/value.hpp"
#include "plan/name_pattern.hpp"

namespace encore::plan {

struct PlanHeader {
  std::string name;
  NamePattern pattern;  ///< of the runs' names
  std::string note;
  std::vector<std::string> tags;
  config::Origins origin;  ///< of name, note and tags
  std::vector<std::int64_t> seeds;
  std::map<std::int64_t, config::Origin> seed_origin;
};

/// Reads the header from `root`, the root of the document after the overrides were applied. Adds what is
/// wrong to `problems`.
PlanHeader read_header(const config::ExperimentFile& document, const config::Value& root,
                       const config::OptionPlaces& places, config::Problems& problems);

}  // namespace encore::plan
