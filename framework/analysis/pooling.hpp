// Pooling: which runs of one question make one candidate. Their seeds are draws from one distribution only
// where plugin files and numeric environments are equal, so runs from different ones are kept apart unless
// that is asked for. Place in the flow: candidates.cpp asks here, for `exp compare` and for reports.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "store/store.hpp"

namespace encore {

/// A run and every numeric environment, which names the plugin files too, in which an attempt of it worked.
struct RunSource {
  const RunRow* run = nullptr;
  std::vector<nlohmann::json> environments;
};

/// Each environment once; none where no attempt has started.
std::vector<nlohmann::json> environments_of(Store& store, const RunRow& run);

/// One key for each run; runs of one candidate have the same. A run that has no environment yet belongs to
/// the first candidate of its question.
std::vector<std::string> candidate_keys(const std::vector<RunSource>& runs, bool pool);

/// What tells candidates of one question apart, one text for each: `plugin mine 0123456789ab` where they
/// differ in one field, else `environment 1`, `environment 2`.
std::vector<std::string> environment_names(const std::vector<std::vector<nlohmann::json>>& environments);

}  // namespace encore
