// SPDX-License-Identifier: BSD-3-Clause
// Scores is an argument of Engine::answer: whether answers come with probabilities, as `exp predict --scores`
// asks for. It has a header of its own because worker/verbs.hpp names it without including the Engine.
#pragma once

#include <cstdint>

namespace encore::infer {

enum class Scores : std::uint8_t { without, with };

}  // namespace encore::infer
