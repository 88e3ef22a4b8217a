// SPDX-License-Identifier: BSD-3-Clause
// AddedTokens: tokens that are found in a text as they are written, before anything else splits it, by the
// rules of AddedVocabulary in the Python package `tokenizers`. A token is searched in the text itself or,
// with `normalized`, in its normalized form; of several at one position the longest is taken. byte_bpe,
// unigram and wordpiece cut a text at these tokens first and encode the parts between them as usual. The
// rules must stay those of that package, because imported models were trained with them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <encore/tokenizer.hpp>

#include "token_trie.hpp"
#include "vocabulary.hpp"

namespace encore::tokenizers {

struct AddedToken {
  std::string content;
  bool lstrip = false;       ///< white space before it belongs to it
  bool rstrip = false;       ///< white space after it belongs to it
  bool single_word = false;  ///< matches only if no letter, digit or mark is beside it
  bool normalized = false;   ///< is normalized, and searched in the normalized text
  bool special = false;      ///< `decode` omits it
  bool outside = false;      ///< no word is cut into it: the splitter does not know it
  std::int32_t number = TokenTable::no_token;
};

/// Finds tokens of one kind (of the text, or of the normalized text).
class TokenFinder {
 public:
  struct Match {
    std::size_t begin, end;     ///< including its white space
    std::size_t first, behind;  ///< the token without white space
    const AddedToken* token;
  };

  /// Adds a token that is found by `pattern`. An empty pattern is ignored; of equal patterns the first
  /// counts. `token` must outlive the finder.
  void add(std::string pattern, const AddedToken& token);
  bool empty() const { return tokens_.empty(); }
  /// Finds the first token at or after `from`; its white space may begin at `free`. Returns false if there is
  /// none; `from` is then undefined.
  bool next(std::string_view text, std::size_t& from, std::size_t free, Match& match) const;

 private:
  std::vector<const AddedToken*> tokens_;  ///< by pattern
  wordpiece::TokenTrie patterns_;          ///< lead to indices of tokens_
  std::array<bool, 256> begins_ = {};      ///< whether a pattern begins with this byte
  std::string first_bytes_;                ///< these bytes, each once
};

/// Calls plain(begin, end) for the parts of a text between tokens that are not empty, and found(match) for
/// the tokens, in the order of the text.
template <class Plain, class Found>
void split_at_tokens(const TokenFinder& finder, std::string_view text, const Plain& plain,
                     const Found& found) {
  std::size_t done = 0, from = 0;
  for (TokenFinder::Match match{}; finder.next(text, from, done, match); done = match.end) {
    if (done < match.begin) plain(done, match.begin);
    found(match);
  }
  if (done < text.size()) plain(done, text.size());
}

class AddedTokens {
 public:
  static constexpr const char* option_name = "added_tokens";
  /// The most bytes of a token. The search reads this many bytes at each position at most.
  static constexpr std::size_t longest_token = 1000;
  /// Adds the option, a list of entries such as "plain [E9]" or "lstrip,special <mask>".
  static Schema& add_option(Schema& schema);
  /// Reads the option; no tokens if it is missing. Throws OptionError if an entry is not flags, a blank and a
  /// token, or if a token is longer than longest_token or occurs twice.
  explicit AddedTokens(const Options& options);
  AddedTokens(AddedTokens&&) = default;  // the finders' pointers stay valid after a move
  AddedTokens& operator=(AddedTokens&&) = default;

  /// Returns whether the option contains that token.
  bool names(std::string_view content) const;
  /// Finds the numbers of the option's tokens, and of the tokenizer's `own` ones that the option does not
  /// contain and the vocabulary has. `normalize(text)` returns the normalized form of a text. Throws an Error
  /// that names a token that the vocabulary lacks.
  template <class Normalize>
  void load(const TokenTable& table, const std::vector<AddedToken>& own, const Normalize& normalize) {
    number(table, own);
    raw_ = {};
    normalized_ = {};
    for (const AddedToken& token : tokens_) {
      if (token.normalized)
        normalized_.add(normalize(token.content), token);
      else
        raw_.add(token.content, token);
    }
  }

  const TokenFinder& raw() const { return raw_; }
  const TokenFinder& normalized() const { return normalized_; }
  /// Returns the token with that number, or null.
  const AddedToken* find(std::int32_t number) const;
  bool is_outside(std::int32_t number) const {
    const AddedToken* token = find(number);
    return token != nullptr && token->outside;
  }

 private:
  void number(const TokenTable& table, const std::vector<AddedToken>& own);

  std::vector<AddedToken> given_;                         ///< from the option
  std::vector<AddedToken> tokens_;                        ///< all, special ones first
  std::unordered_map<std::int32_t, std::size_t> places_;  ///< index in tokens_, by number
  TokenFinder raw_, normalized_;
};

}  // namespace encore::tokenizers
