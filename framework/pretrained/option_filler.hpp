// OptionFiller: puts into an experiment what a model that it starts from decides, where the experiment is
// silent; where the two disagree both are named. Place in the flow: folder_filler.cpp for a model from
// elsewhere, plan/parent_filler.cpp for a run.
#pragma once

#include <string>
#include <vector>

#include "config/error.hpp"
#include "config/value.hpp"
#include "pretrained/pretrained_config.hpp"

namespace encore {

class OptionFiller {
 public:
  /// `root` is the document of one run; what is wrong is added to `problems`. Both outlive the filler.
  OptionFiller(Value& root, Problems& problems) : root_(root), problems_(problems) {}

 protected:
  /// `source` is where the option is decided, and its file how messages call that. False where the experiment
  /// says something else; then its value is replaced, so that nothing that follows from it is reported too.
  bool put(const ImpliedOption& option, const Origin& source);
  void set(const std::vector<std::string>& path, Value value, const Origin& of_value);
  void refuse(const Value& at, const std::string& key, const std::string& message);

  Value& root_;
  Problems& problems_;
};

}  // namespace encore
