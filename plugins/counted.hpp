// A number with its noun, for what readers and tasks say of their sets.
#pragma once

#include <cstdint>
#include <string>

namespace encore {

/// "1 text", "3 texts"
inline std::string counted(std::int64_t count, const char* one, const char* several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

}  // namespace encore
