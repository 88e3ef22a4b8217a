// SPDX-License-Identifier: BSD-3-Clause
// TokenCut and cuts_of(): each way to cut a token of a vocabulary into two tokens of that vocabulary.
// plugins/tokenizers/byte_bpe.cpp and pretrained/byte_bpe_files.cpp make merges of them. The work grows with
// the bytes of the vocabulary and the sorting of its tokens, not with the square of a token's length. The
// order of the result decides how text is cut, so it must not change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace encore {

struct TokenCut {
  std::int32_t left, right, whole;
};

/// For each token: the longest other one that it begins with, or -1. Empty tokens do not count.
inline std::vector<std::int32_t> longest_beginnings(const std::vector<std::string>& tokens) {
  std::vector<std::int32_t> order(tokens.size()), found(tokens.size(), -1);
  std::iota(order.begin(), order.end(), 0);
  const auto text = [&](std::int32_t token) -> const std::string& {
    return tokens[static_cast<std::size_t>(token)];
  };
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return text(a) < text(b); });
  std::vector<std::int32_t> open;  // the tokens that the last one begins with, itself the last
  for (const std::int32_t token : order) {
    if (text(token).empty()) continue;
    if (!open.empty()) {
      const std::string& last = text(open.back());
      const auto common = static_cast<std::size_t>(
          std::mismatch(last.begin(), last.end(), text(token).begin(), text(token).end()).first -
          last.begin());
      while (!open.empty() && text(open.back()).size() > common) open.pop_back();
    }
    if (!open.empty()) found[static_cast<std::size_t>(token)] = open.back();
    open.push_back(token);
  }
  return found;
}

/// The cuts of distinct tokens, in their order; among the cuts of one, the shortest left part comes first.
/// Empty tokens do not count.
inline std::vector<TokenCut> cuts_of(const std::vector<std::string>& tokens) {
  const std::vector<std::int32_t> begins = longest_beginnings(tokens);
  std::vector<std::string> reversed = tokens;
  for (std::string& token : reversed) std::reverse(token.begin(), token.end());
  const std::vector<std::int32_t> ends = longest_beginnings(reversed);
  const auto size = [&](std::int32_t token) { return tokens[static_cast<std::size_t>(token)].size(); };
  std::vector<TokenCut> cuts;
  std::vector<std::int32_t> rights;
  for (std::int32_t whole = 0; whole < static_cast<std::int32_t>(tokens.size()); ++whole) {
    const std::ptrdiff_t before = std::ssize(cuts);
    rights.clear();  // longest first; the lefts below are too, so both lists are gone through once
    for (std::int32_t right = ends[static_cast<std::size_t>(whole)]; right >= 0;
         right = ends[static_cast<std::size_t>(right)])
      rights.push_back(right);
    for (std::int32_t left = begins[static_cast<std::size_t>(whole)]; left >= 0;
         left = begins[static_cast<std::size_t>(left)]) {
      while (!rights.empty() && size(left) + size(rights.back()) < size(whole)) rights.pop_back();
      if (rights.empty()) break;
      if (size(left) + size(rights.back()) == size(whole)) cuts.push_back({left, rights.back(), whole});
    }
    std::reverse(cuts.begin() + before, cuts.end());
  }
  return cuts;
}

}  // namespace encore
