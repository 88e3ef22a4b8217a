// See shell_word.hpp.
#include "base/shell_word.hpp"

namespace encore {

std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char letter : text) word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return word + "'";
}

}  // namespace encore
