// A text as one word of a POSIX shell, whatever it holds.
#pragma once

#include <string>

namespace encore {

/// 'it'\''s'
std::string shell_word(const std::string& text);

}  // namespace encore
