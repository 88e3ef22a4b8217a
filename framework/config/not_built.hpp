// SPDX-License-Identifier: BSD-3-Clause
// NotBuilt: the exception of a call that needs a component of Encore that is not built yet: a program with
// some verbs, or a plugin that ships. The code that looks for a component throws it (catalogue.cpp,
// runner/programs.cpp). cli/program.cpp lets ./exp build the component and call again, or prints the command
// that builds it. The names are those of cmake/components.cmake, with which ./exp is called again.
#pragma once

#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace encore::config {

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

}  // namespace encore::config
