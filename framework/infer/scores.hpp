// Whether answers have probabilities: what Engine::answer is asked for.
#pragma once

#include <cstdint>

namespace encore {

enum class Scores : std::uint8_t { without, with };

}  // namespace encore
