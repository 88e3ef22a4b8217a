// SPDX-License-Identifier: BSD-3-Clause
// Pooling decides which runs of one question make one candidate. Their scores are draws from one distribution
// only if plugin files and numeric environments are equal, so runs from different ones are kept apart unless
// the user asks otherwise. candidates.cpp calls it for `exp compare` and reports; report/model_card.cpp for
// the runs behind an interval. Runs with equal keys are averaged, so a weaker rule would change published
// means.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "store/store.hpp"

namespace encore::analysis {

/// A run with the numeric environments of all its attempts. An environment also names the plugin files.
struct RunSource {
  const store::RunRow* run = nullptr;
  std::vector<nlohmann::json> environments;
};

/// Returns each environment once; none if no attempt has started.
std::vector<nlohmann::json> environments_of(store::Store& store, const store::RunRow& run);

/// Returns one key for each run; runs of one candidate have equal keys. `pool`: ignore plugin files and
/// environments. A run that has no environment yet belongs to the first candidate of its question.
std::vector<std::string> candidate_keys(const std::vector<RunSource>& runs, bool pool);

/// Returns what distinguishes candidates of one question, one text for each: `plugin mine 0123456789ab` if
/// they differ in one field, else `environment 1`, `environment 2`.
std::vector<std::string> environment_names(const std::vector<std::vector<nlohmann::json>>& environments);

}  // namespace encore::analysis
