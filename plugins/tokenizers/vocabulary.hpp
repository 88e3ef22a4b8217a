// SPDX-License-Identifier: BSD-3-Clause
// What the built-in tokenizers share about vocabularies: the options for where one comes from, and
// TokenTable, a checked list of tokens with their numbers. It is compiled into the plugin of each tokenizer.
// The order of special_tokens() and most_frequent() numbers the tokens of trained vocabularies, so it must
// not change.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <encore/tokenizer.hpp>

namespace encore::tokenizers {

/// This is what the help of the option vocab says about the file of most tokenizers.
inline constexpr const char* usual_file =
    "one token per line, with its special tokens (usually [PAD], [UNK], [CLS] and [SEP])";

/// Returns the options vocab, vocab_size and min_frequency. `help` describes min_frequency, `file` a
/// vocabulary file; `least` ends the help of vocab_size.
Schema vocabulary_schema(std::int64_t min_frequency, std::string help, const std::string& file = usual_file,
                         const std::string& least = "");

/// How a vocabulary is trained, from the options.
struct Training {
  std::int64_t vocab_size = 0;  ///< tokens, including special ones; 0: read from a file
  std::int64_t min_frequency = 1;
};

/// Throws OptionError unless exactly one of `vocab` and `vocab_size` is given.
Training training_of(const Options& options);
/// The longest word from which pairs are merged in training, in bytes. Each merge visits the word again, so
/// the time for a word grows with the square of its length. Longer words (a file without blanks) are ignored.
inline constexpr std::size_t longest_taught_word = 1000;

/// Throws Error if the options name a vocabulary to read.
void require_training(const Training& training);

/// Returns [PAD], [UNK], [CLS], [SEP], with which vocabularies begin that character, word and byte_bpe train.
const std::vector<std::string>& special_tokens();

/// Returns the special tokens, then the strings of `counts` by falling count, equal counts in the order of
/// their bytes, as vocab_size and min_frequency allow. Throws Error if none is left; `what` they are: "word".
std::vector<std::string> most_frequent(const TextCounts& counts, const Training& training,
                                       const std::string& what);

/// The names of special tokens in a family of vocabularies, by role; "": the family has no such token.
using SpecialNames = std::array<std::string_view, all_specials.size()>;

/// A vocabulary: tokens in the order of their numbers.
class TokenTable {
 public:
  static constexpr std::int32_t no_token = -1;

  TokenTable() = default;
  /// Throws Error for an empty or duplicate token, or a missing special token; `kind` is the tokenizer in the
  /// message: "WordPiece". The special tokens have the usual names or, if the vocabulary lacks the usual
  /// start token, the first names in `others` whose start token it has.
  TokenTable(std::vector<std::string> tokens, const std::string& kind,
             std::span<const SpecialNames> others = {});

  std::span<const std::string> tokens() const { return tokens_; }
  std::optional<std::int32_t> find(Special role) const {
    const std::int32_t number = special_[static_cast<std::size_t>(role)];
    return number == no_token ? std::nullopt : std::optional(number);
  }
  std::int32_t unknown() const { return special_[static_cast<std::size_t>(Special::unknown)]; }
  /// Returns whether the token represents no text, so that `decode` omits it.
  bool is_special(std::int32_t number) const;
  /// Returns whether the token has a role that every vocabulary needs: [PAD], [UNK], [CLS] or [SEP].
  bool is_required(std::int32_t number) const;
  /// Returns the token with this number. Throws std::logic_error if there is none.
  const std::string& token(std::int32_t number) const;
  /// Returns no_token if it is not in the vocabulary.
  std::int32_t find(std::string_view token) const {
    const auto found = numbers_.find(token);
    return found == numbers_.end() ? no_token : found->second;
  }

 private:
  SpecialNames special_names(std::span<const SpecialNames> others) const;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
  std::array<std::int32_t, all_specials.size()> special_ = {};  ///< by role
};

}  // namespace encore::tokenizers
