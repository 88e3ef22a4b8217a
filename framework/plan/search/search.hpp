// Search: the [search] table read and checked: method, objectives, limits, pruning, and the space.
// Read next: search_plan.hpp, which makes runs of its trials; decide.hpp, which proposes them.
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

namespace encore::search {

struct Search {
  SearchOptions options;
  SearchLimits limits;
  Sweep space;  ///< its random variables, conditional options and exclusions; nothing else

  const std::vector<RandomVariable>& variables() const { return space.random; }
};

/// Whether the file, with its overrides, has a [search] instead of fixed runs.
bool has_search(const ExperimentFile& document);

/// Reads [search] of `root`, which is the document's with its overrides set. `header` gets the seeds of
/// `repeats`. The epochs of a trial and an objective that is not written follow from the experiment
/// (search_plan.hpp).
Search read_search(const Value& root, const ExperimentFile& document, const OptionPlaces& places,
                   PlanHeader& header, Problems& problems);

/// What is stored of a search, and what decides which search it is: without the limits.
nlohmann::json settings_json(const SearchOptions& options);
nlohmann::json space_json(const std::vector<RandomVariable>& space);
/// The way back. The values of choices are there by number only: enough to decide. Throws Error where the
/// JSON is none of a search.
SearchOptions options_from_json(const nlohmann::json& settings);
std::vector<RandomVariable> space_from_json(const nlohmann::json& space);

/// "max dev/f1"
std::string text_of(const Objective& objective);

}  // namespace encore::search
