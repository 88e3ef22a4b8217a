// SPDX-License-Identifier: BSD-3-Clause
// Search: the [search] table, read and checked: method, objectives, limits, pruning, and the space. Place in
// the flow: search_plan.cpp reads it and makes runs of its trials; decide.cpp proposes them. The JSON is
// stored, and the identity of a search is computed from it, so its members do not change.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "config/catalogue.hpp"
#include "config/error.hpp"
#include "config/experiment_file.hpp"
#include "config/option_places.hpp"
#include "config/value.hpp"
#include "plan/plan_header.hpp"
#include "plan/search/history.hpp"
#include "plan/sweep.hpp"

namespace encore::plan::search {

struct Search {
  SearchOptions options;
  SearchLimits limits;
  Sweep space;  ///< its random variables, conditional options and exclusions; nothing else

  const std::vector<RandomVariable>& variables() const { return space.random; }
};

/// Returns whether the file, with its overrides, has a [search] instead of fixed runs.
bool has_search(const config::ExperimentFile& document);

/// Reads [search] of `root`, the root of the document after the overrides were applied. Adds the seeds of
/// `repeats` to `header`. If the file does not give them, the epochs of a trial and the objective follow from
/// the experiment (search_plan.hpp).
Search read_search(const config::Value& root, const config::ExperimentFile& document,
                   const config::OptionPlaces& places, PlanHeader& header, config::Problems& problems);

/// Returns the stored settings, which decide which search it is. The limits are not among them.
nlohmann::json settings_json(const SearchOptions& options);
/// Returns the space as it is stored.
nlohmann::json space_json(const std::vector<RandomVariable>& space);
/// Reads the settings back. Choices have only their numbers, which is enough to decide. Throws Error if the
/// JSON does not describe a search.
SearchOptions options_from_json(const nlohmann::json& settings);
std::vector<RandomVariable> space_from_json(const nlohmann::json& space);

/// Returns "max dev/f1".
std::string text_of(const Objective& objective);

}  // namespace encore::plan::search
