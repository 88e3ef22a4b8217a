// SPDX-License-Identifier: BSD-3-Clause
// Makes paths of experiment files absolute. The origin of a path (file or command line) decides from which
// folder it starts. validate.cpp and resolve.cpp call it. The rules decide which file a run reads, so they
// must not change. Read origin.hpp first.
#include "config/origin.hpp"

#include <cstdlib>
#include <filesystem>

#include "config/error.hpp"

namespace encore::config {

std::string expand_variables(const std::string& text) {
  std::string expanded;
  std::size_t position = 0;
  while (true) {
    const std::size_t begin = text.find("${", position);
    expanded += text.substr(position, begin - position);
    if (begin == std::string::npos) return expanded;
    const std::size_t end = text.find('}', begin);
    if (end == std::string::npos) throw Error("has \"${\" without \"}\" in \"" + text + "\"");
    const std::string name = text.substr(begin + 2, end - begin - 2);
    const char* value = std::getenv(name.c_str());
    if (value == nullptr)
      throw Error("uses ${" + name + "}, but the environment variable " + name +
                  " is not set; set it, as in: export " + name + "=/some/folder");
    expanded += value;
    position = end + 1;
  }
}

std::string resolve_path(const std::string& text, const Origin& origin,
                         const std::optional<std::string>& root) {
  namespace fs = std::filesystem;
  if (text.empty()) return text;
  fs::path path = expand_variables(text);
  if (path.is_relative()) {
    if (root)
      path = fs::path(*root) / path;
    else if (origin.source != Source::command_line)
      path = fs::path(origin.place.file).parent_path() / path;
  }
  return fs::absolute(path).lexically_normal().string();
}

}  // namespace encore::config
