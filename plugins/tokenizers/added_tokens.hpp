// AddedTokens: tokens that are found in a text as they are written, before anything else cuts it; the rules
// are those of AddedVocabulary of the Python package `tokenizers`. A token is looked for in the text as it
// stands or, with `normalized`, in what normalization makes of it. Of several that begin at one place the
// longest is taken. Place in the flow: a tokenizer cuts a text at its tokens, and what lies between them as
// any text. Compiled into each tokenizer's plugin that has the option.
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
  bool lstrip = false;       ///< white space in front of it belongs to it
  bool rstrip = false;       ///< white space behind it belongs to it
  bool single_word = false;  ///< only where no letter, digit or mark stands beside it
  bool normalized = false;   ///< is looked for in the normalized text, normalized itself
  bool special = false;      ///< `decode` leaves it out
  bool outside = false;      ///< no word is cut into it: what cuts words does not know the token
  std::int32_t number = TokenTable::no_token;
};

/// Tokens of one kind, ready to be found.
class TokenFinder {
 public:
  struct Match {
    std::size_t begin, end;     ///< with the white space that belongs to it
    std::size_t first, behind;  ///< the token by itself
    const AddedToken* token;
  };

  /// `pattern`: what is looked for; an empty one is left out, of equal ones the first counts. `token`
  /// outlives the finder.
  void add(std::string pattern, const AddedToken& token);
  bool empty() const { return tokens_.empty(); }
  /// The first token at or behind `from`, whose white space reaches back to `free` at most. False where there
  /// is none; `from` is then of no more use.
  bool next(std::string_view text, std::size_t& from, std::size_t free, Match& match) const;

 private:
  std::vector<const AddedToken*> tokens_;  ///< of patterns
  wordpiece::TokenTrie patterns_;          ///< to places in tokens_
  std::array<bool, 256> begins_ = {};      ///< by the first byte of a pattern
  std::string first_bytes_;                ///< the same, each once
};

/// Calls plain(begin, end) for the parts of a text between tokens, none of them empty, and found(match) for
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
  /// Bytes of a token. At each place of a text as many bytes are looked at as the longest token has.
  static constexpr std::size_t longest_token = 1000;
  /// Adds the option, a list of texts such as "plain [E9]" or "lstrip,special <mask>".
  static Schema& add_option(Schema& schema);
  /// None where the option is missing. Throws OptionError where an entry is no flags, a blank and a token, a
  /// token is longer than longest_token or stands twice.
  explicit AddedTokens(const Options& options);
  AddedTokens(AddedTokens&&) = default;  // what the finders point at does not move with it
  AddedTokens& operator=(AddedTokens&&) = default;

  /// Whether the option names that token.
  bool names(std::string_view content) const;
  /// Numbers the tokens of the option, and of `own`, which the tokenizer has by itself, those that the option
  /// does not name and the vocabulary has. `normalize(text)` gives the normalized form of a text. Throws
  /// Error naming a token that the vocabulary lacks.
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
  /// The token with that number; null where there is none.
  const AddedToken* find(std::int32_t number) const;
  bool is_outside(std::int32_t number) const {
    const AddedToken* token = find(number);
    return token != nullptr && token->outside;
  }

 private:
  void number(const TokenTable& table, const std::vector<AddedToken>& own);

  std::vector<AddedToken> given_;                         ///< by the option
  std::vector<AddedToken> tokens_;                        ///< all, special ones first
  std::unordered_map<std::int32_t, std::size_t> places_;  ///< in tokens_, by number
  TokenFinder raw_, normalized_;
};

}  // namespace encore::tokenizers
