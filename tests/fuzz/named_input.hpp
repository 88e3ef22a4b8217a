// SPDX-License-Identifier: BSD-3-Clause
// NamedInput: the content of one file with its name on the first line, for targets that read several kinds of
// files. A mutation changes the content and keeps the name.
#pragma once

#include <string>

namespace encore::fuzz {

struct NamedInput {
  std::string name, content;

  static NamedInput of(const std::string& input) {
    const std::size_t end = input.find('\n');
    if (end == std::string::npos) return {input, ""};
    return {input.substr(0, end), input.substr(end + 1)};
  }
  std::string text() const { return name + "\n" + content; }
};

}  // namespace encore::fuzz
