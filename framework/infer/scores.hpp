// Whether answers have probabilities: an argument of Engine::answer.
#pragma once

#include <cstdint>

namespace encore {

enum class Scores : std::uint8_t { without, with };

}  // namespace encore
