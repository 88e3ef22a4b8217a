// replace_all: every occurrence of a text within another one, such as the placeholders of a command.
#pragma once

#include <string>

namespace encore {

/// What is put in is not looked through again. `from` is not empty.
inline void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace encore
