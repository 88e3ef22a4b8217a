// SPDX-License-Identifier: BSD-3-Clause
// FolderFiller: completes an experiment whose [model] has `from = "DIR"`: it sets what the folder decides if
// the experiment does not set it, and names both places if they disagree. Place in the flow: plan/ sets what
// the sweep varies -> here -> resolve(). Afterwards the model's shape is known without the folder: the
// resolved experiment is as if every option were written by hand. Identities of runs depend on what is filled
// in, so an equal folder must always give equal options.
#pragma once

#include <map>
#include <string>

#include "config/catalogue.hpp"
#include "config/error.hpp"
#include "config/value.hpp"
#include "pretrained/folder_settings.hpp"
#include "pretrained/hugging_face_folder.hpp"

namespace encore::pretrained {

/// Returns the text of model.from, or null if the experiment names no folder.
const config::Value* named_folder(const config::Value& root);

class FolderFiller {
 public:
  /// Fills `root`, the document of one run. Adds what is wrong to `problems`. Returns false if the folder, or
  /// the task with it, cannot be used: nothing was filled in, and every missing option would only repeat the
  /// problem.
  bool fill(config::Value& root, const config::Catalogue& catalogue, config::Problems& problems);

 private:
  struct Opened {
    HuggingFaceFolder folder;
    FolderSettings settings;
  };
  const Opened& open(const std::string& path);

  std::map<std::string, Opened> folders_;  ///< each is read once, by path
};

}  // namespace encore::pretrained
