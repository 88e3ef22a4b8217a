// SPDX-License-Identifier: BSD-3-Clause
// TokenTrie: the longest token of a vocabulary that a text begins with, found in one walk over its bytes.
// One hash table with open addressing, keyed by (node, byte), holds the edges of all nodes: it is small, and
// a walk takes about one probe per byte. wordpiece.cpp and added_tokens.cpp search with it; only the speed
// depends on the layout of the table.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace encore::wordpiece {

class TokenTrie {
 public:
  static constexpr std::int32_t no_token = -1;
  struct Match {
    std::int32_t token = no_token;
    std::size_t length = 0;  ///< in bytes
  };

  TokenTrie();
  void add(std::string_view text, std::int32_t token);
  Match longest_prefix(std::string_view text) const;

 private:
  struct Edge {
    std::uint32_t key = empty;  // node * 256 + byte, so there are fewer than 2^24 nodes
    std::uint32_t child = 0;
  };
  static constexpr std::uint32_t empty = 0xFFFFFFFFu;

  std::size_t slot(std::uint32_t key) const;
  void grow();

  std::vector<Edge> edges_;           // size is a power of two, at most half full
  std::vector<std::int32_t> tokens_;  // by node
  std::size_t used_ = 0;
  int shift_ = 0;  // 32 minus the number of bits of the size
};

}  // namespace encore::wordpiece
