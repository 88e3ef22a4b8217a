// SPDX-License-Identifier: BSD-3-Clause
// NotBuilt names a component of Encore that a call needs and that the build does not have yet: a program that
// holds some verbs, or a plugin that ships. The code that looks for a component throws it; cli/program.cpp
// has ./exp build the component and calls again, or names the command that builds it.
#pragma once

#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace encore {

/// It does not derive from Error, so that code which catches errors, to add a place or to continue without
/// something, lets it pass.
class NotBuilt : public std::exception {
 public:
  /// `names` are as `./exp build NAME...` takes them; `folder` is where the components would lie.
  NotBuilt(std::vector<std::string> names, const std::filesystem::path& folder) : names_(std::move(names)) {
    std::string list;
    for (const std::string& name : names_) list += " " + name;
    what_ = "not built yet:" + list + " (missing in " + folder.string() + "); build it: ./exp build" + list;
  }
  const std::vector<std::string>& names() const { return names_; }
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::vector<std::string> names_;
  std::string what_;
};

}  // namespace encore
