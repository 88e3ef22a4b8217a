// PieceCut: each way to cut a piece of a vocabulary into two of its pieces. The work grows with the bytes of
// the vocabulary (and the sorting of its pieces), not with the square of a piece: a piece of a megabyte is
// not looked up at each of its places. Place in the flow: plugins/tokenizers/byte_bpe.cpp and
// pretrained/byte_bpe_files.cpp make merges of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace encore {

struct PieceCut {
  std::int32_t left, right, whole;
};

/// For each piece: the longest other one that it begins with, or -1. Empty pieces do not count.
inline std::vector<std::int32_t> longest_beginnings(const std::vector<std::string>& pieces) {
  std::vector<std::int32_t> order(pieces.size()), found(pieces.size(), -1);
  std::iota(order.begin(), order.end(), 0);
  const auto text = [&](std::int32_t piece) -> const std::string& {
    return pieces[static_cast<std::size_t>(piece)];
  };
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return text(a) < text(b); });
  std::vector<std::int32_t> open;  // the pieces that the last one begins with, itself the last
  for (const std::int32_t piece : order) {
    if (text(piece).empty()) continue;
    if (!open.empty()) {
      const std::string& last = text(open.back());
      const auto common = static_cast<std::size_t>(
          std::mismatch(last.begin(), last.end(), text(piece).begin(), text(piece).end()).first -
          last.begin());
      while (!open.empty() && text(open.back()).size() > common) open.pop_back();
    }
    if (!open.empty()) found[static_cast<std::size_t>(piece)] = open.back();
    open.push_back(piece);
  }
  return found;
}

/// The cuts of distinct pieces, in their order; among the cuts of one, the shortest left part comes first.
/// Empty pieces do not count.
inline std::vector<PieceCut> cuts_of(const std::vector<std::string>& pieces) {
  const std::vector<std::int32_t> begins = longest_beginnings(pieces);
  std::vector<std::string> reversed = pieces;
  for (std::string& piece : reversed) std::reverse(piece.begin(), piece.end());
  const std::vector<std::int32_t> ends = longest_beginnings(reversed);
  const auto size = [&](std::int32_t piece) { return pieces[static_cast<std::size_t>(piece)].size(); };
  std::vector<PieceCut> cuts;
  std::vector<std::int32_t> rights;
  for (std::int32_t whole = 0; whole < static_cast<std::int32_t>(pieces.size()); ++whole) {
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
