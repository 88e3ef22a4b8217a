// FolderFiller: completes an experiment whose [model] has `from = "DIR"`: what the folder decides is put
// where the experiment is silent, and where the two disagree both places are named. Place in the flow: plan/
// sets what the sweep varies, then this, then resolve(). Afterwards nothing needs the folder to know the
// model's shape: the resolved experiment is what it would be with every option written by hand.
#pragma once

#include <map>
#include <string>

#include "config/catalogue.hpp"
#include "config/error.hpp"
#include "config/value.hpp"
#include "pretrained/folder_settings.hpp"
#include "pretrained/hugging_face_folder.hpp"

namespace encore {

/// The text of model.from, or null where the experiment names no folder.
const Value* named_folder(const Value& root);

class FolderFiller {
 public:
  /// `root` is the document of one run. What is wrong is added to `problems`. False where the folder cannot
  /// be used, also not by the task, so that nothing was filled in and every missing option would only repeat
  /// it.
  bool fill(Value& root, const Catalogue& catalogue, Problems& problems);

 private:
  struct Opened {
    HuggingFaceFolder folder;
    FolderSettings settings;
  };
  const Opened& open(const std::string& path);

  std::map<std::string, Opened> folders_;  ///< each is read once, by path
};

}  // namespace encore
