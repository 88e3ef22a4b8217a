// Two texts for a window of which the second follows the first or is of elsewhere, half the time each: what
// is to be told apart in next-sentence prediction (Devlin et al. 2019, section 3.1). Pure functions of the
// texts, so that every epoch and every set has the same pairs. Place in the flow: Mlm::encode -> pairs ->
// windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "masking.hpp"

namespace encore::mlm {

/// What the column "next" holds.
inline constexpr std::int32_t follows = 0, is_of_elsewhere = 1;

/// Where a run of at least two tokens is cut, and whether its second part is to stay.
struct PairDraw {
  std::size_t first = 0;  ///< tokens of the first text: at least one, and at least one is left
  bool stays = true;
};

PairDraw draw_pair(std::size_t tokens, const Draw& draw);

/// Text of a record other than `record`, of which there is one, from a drawn place on: at most `bytes`, from
/// the beginning of a word where one begins there, and whole characters. Empty where no text is there.
std::string text_of_elsewhere(std::span<const std::string> texts, std::size_t record, std::size_t bytes,
                              const Draw& draw);

}  // namespace encore::mlm
