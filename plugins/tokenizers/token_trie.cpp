// SPDX-License-Identifier: BSD-3-Clause
// TokenTrie: adds tokens to an open hash table of edges, which doubles when it is half full, and finds the
// longest token at the beginning of a text. wordpiece.cpp and added_tokens.cpp call it; only the speed
// depends on the layout. Read token_trie.hpp first.
#include "token_trie.hpp"

#include <encore/error.hpp>

namespace encore::wordpiece {

TokenTrie::TokenTrie() : edges_(1024), tokens_(1, no_token), shift_(32 - 10) {}

/// Returns the edge with this key, or the free slot where it belongs.
std::size_t TokenTrie::slot(std::uint32_t key) const {
  const std::size_t mask = edges_.size() - 1;
  std::size_t at = (key * 0x9E3779B1u) >> shift_;
  while (edges_[at].key != key && edges_[at].key != empty) at = (at + 1) & mask;
  return at;
}

void TokenTrie::grow() {
  std::vector<Edge> old(edges_.size() * 2);
  old.swap(edges_);
  --shift_;
  for (const Edge& edge : old)
    if (edge.key != empty) edges_[slot(edge.key)] = edge;
}

void TokenTrie::add(std::string_view text, std::int32_t token) {
  std::uint32_t node = 0;
  for (const char c : text) {
    if (2 * (used_ + 1) > edges_.size()) grow();
    const std::uint32_t key = node * 256 + static_cast<unsigned char>(c);
    Edge& edge = edges_[slot(key)];
    if (edge.key == empty) {
      ENCORE_REQUIRE(tokens_.size() < (std::size_t{1} << 24) - 1,
                     "a vocabulary of this size does not fit the trie");
      edge = {key, static_cast<std::uint32_t>(tokens_.size())};
      tokens_.push_back(no_token);
      ++used_;
    }
    node = edge.child;
  }
  tokens_[node] = token;
}

TokenTrie::Match TokenTrie::longest_prefix(std::string_view text) const {
  Match match;
  std::uint32_t node = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Edge& edge = edges_[slot(node * 256 + static_cast<unsigned char>(text[i]))];
    if (edge.key == empty) break;
    node = edge.child;
    if (tokens_[node] != no_token) match = {tokens_[node], i + 1};
  }
  return match;
}

}  // namespace encore::wordpiece
