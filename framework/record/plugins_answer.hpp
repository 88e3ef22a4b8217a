// SPDX-License-Identifier: BSD-3-Clause
// PluginsAnswer: the answer of `encore-worker plugins`, after it has loaded all plugins of its folders. The
// worker writes it (worker/plugins_verb.cpp), `exp plugin ls --load` reads it (app/plugin_view.cpp). Both
// programs come from one build, so the form may change.
#pragma once

#include <string>
#include <vector>

#include "base/json_fields.hpp"

namespace encore::record {

/// A plugin that could not be loaded.
struct RefusedFile {
  std::string file, reason;
};
void list(auto& field, A<RefusedFile> auto& refused) {
  field("file", refused.file);
  field("reason", refused.reason);
}

struct PluginsAnswer {
  double milliseconds = 0.0;                        ///< time for loading all of them
  nlohmann::json loaded = nlohmann::json::array();  ///< as in the description of an environment
  std::vector<RefusedFile> refused = {};
};
void list(auto& field, A<PluginsAnswer> auto& answer) {
  field("milliseconds", answer.milliseconds);
  field("loaded", answer.loaded);
  field("refused", answer.refused);
}

}  // namespace encore::record
