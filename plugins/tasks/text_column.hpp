// SPDX-License-Identifier: BSD-3-Clause
// Stores text in a column of integers, because a set is scored after its records are gone, and some measures
// compare text. The tasks qa, translate and summarize write it in encode, and read it in measure and answer.
// Caches of encoded sets contain the column, so its form must not change.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/error.hpp>

namespace encore::tasks {

/// Appends the number of bytes, then the bytes, four to an integer, the first in the lowest bits.
inline void put_text(std::string_view text, std::vector<std::int32_t>& to) {
  to.push_back(static_cast<std::int32_t>(text.size()));
  for (std::size_t at = 0; at < text.size(); at += 4) {
    std::uint32_t four = 0;
    for (std::size_t i = 0; i < 4 && at + i < text.size(); ++i)
      four |= std::uint32_t{static_cast<unsigned char>(text[at + i])} << (8 * i);
    to.push_back(static_cast<std::int32_t>(four));
  }
}

/// Returns each text that put_text wrote. Throws Error if the integers have another form.
inline std::vector<std::string> texts_in(std::span<const std::int32_t> values) {
  std::vector<std::string> texts;
  while (!values.empty()) {
    const std::int64_t bytes = values.front(), integers = (bytes + 3) / 4;
    values = values.subspan(1);
    if (bytes < 0 || integers > std::ssize(values)) throw Error("the text of the encoded set is damaged");
    texts.emplace_back();
    for (std::int64_t at = 0; at < bytes; ++at) {
      const auto four = static_cast<std::uint32_t>(values[static_cast<std::size_t>(at / 4)]);
      texts.back() += static_cast<char>(static_cast<unsigned char>(four >> (8 * (at % 4)) & 0xFFU));
    }
    values = values.subspan(static_cast<std::size_t>(integers));
  }
  return texts;
}

}  // namespace encore::tasks
