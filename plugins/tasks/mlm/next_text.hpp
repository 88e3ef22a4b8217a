// SPDX-License-Identifier: BSD-3-Clause
// Draws a text pair for a window of the task "mlm": the second text follows the first or comes from another
// record, each half of the time, as in next-sentence prediction (Devlin et al. 2019, section 3.1). The result
// depends only on the input, so every epoch and every set has the same pairs. Mlm::encode calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "masking.hpp"

namespace encore::mlm {

/// The values of the column "next".
inline constexpr std::int32_t follows = 0, is_of_elsewhere = 1;

/// Where a run of at least two tokens is cut, and whether its second part stays.
struct PairDraw {
  std::size_t first = 0;  ///< tokens of the first text; at least one, and at least one after it
  bool stays = true;
};

PairDraw draw_pair(std::size_t tokens, const Draw& draw);

/// Returns text from a random place of a random record other than `record` (there is at least one): at most
/// `bytes`, whole characters, from the beginning of a word if one begins there. Empty if there is no text.
std::string text_of_elsewhere(std::span<const std::string> texts, std::size_t record, std::size_t bytes,
                              const Draw& draw);

}  // namespace encore::mlm
