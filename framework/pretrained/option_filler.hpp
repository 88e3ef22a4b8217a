// SPDX-License-Identifier: BSD-3-Clause
// OptionFiller: sets options of an experiment that its source model decides (the model from which it starts),
// if the experiment does not set them; if the two disagree, it names both places. folder_filler.cpp uses it
// for a folder, plan/parent_filler.cpp for a run. Identities of runs depend on what is set, so it must not
// change.
#pragma once

#include <string>
#include <vector>

#include "config/error.hpp"
#include "config/value.hpp"
#include "pretrained/pretrained_config.hpp"

namespace encore::pretrained {

class OptionFiller {
 public:
  /// `root` is the document of one run. Adds what is wrong to `problems`. Both outlive the filler.
  OptionFiller(config::Value& root, config::Problems& problems) : root_(root), problems_(problems) {}

 protected:
  /// `source` is the place that decides the option; messages name its file. Returns false if the experiment
  /// has another value; it is then replaced, so that no problem that follows from it is reported too.
  bool put(const ImpliedOption& option, const config::Origin& source);
  void set(const std::vector<std::string>& path, config::Value value, const config::Origin& of_value);
  void refuse(const config::Value& at, const std::string& key, const std::string& message);

  config::Value& root_;
  config::Problems& problems_;
};

}  // namespace encore::pretrained
