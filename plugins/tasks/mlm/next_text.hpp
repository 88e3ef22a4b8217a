// SPDX-License-Identifier: BSD-3-Clause
// Draws a text pair for a window: the second follows the first or comes from another record, half the time
// each, as in next-sentence prediction (Devlin et al. 2019, section 3.1). Pure functions of the input, so
// that every epoch and every set has the same pairs. Place in the flow: Mlm::encode -> pairs -> windows.
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
  std::size_t first = 0;  ///< tokens of the first text: at least one, and at least one is left
  bool stays = true;
};

PairDraw draw_pair(std::size_t tokens, const Draw& draw);

/// Returns text of a record other than `record` (there is at least one), from a drawn place on: at most
/// `bytes`, whole characters, and from the beginning of a word if one begins there. Empty if no text is
/// there.
std::string text_of_elsewhere(std::span<const std::string> texts, std::size_t record, std::size_t bytes,
                              const Draw& draw);

}  // namespace encore::mlm
