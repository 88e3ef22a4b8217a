// What the built-in tokenizers share about vocabularies: the options that say where one comes from, and a
// checked list of tokens with the number of each. Compiled into each tokenizer's plugin.
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

/// The options vocab, vocab_size and min_frequency; `help` says what min_frequency leaves out.
Schema vocabulary_schema(std::int64_t min_frequency, std::string help);

/// How a vocabulary is made where it is trained.
struct Training {
  std::int64_t vocab_size = 0;  ///< tokens, special ones included; 0: the vocabulary is read from a file
  std::int64_t min_frequency = 1;
};

/// Throws OptionError unless exactly one of `vocab` and `vocab_size` is given.
Training training_of(const Options& options);
/// Merging looks at a word again with each of its merges, so that a word takes a time that grows with the
/// square of its length. Of longer words (a file without blanks) no vocabulary learns.
inline constexpr std::size_t longest_taught_word = 1000;

/// Throws Error when the vocabulary is to be read.
void require_training(const Training& training);

/// [PAD], [UNK], [CLS], [SEP]: they open the vocabularies that are trained here.
const std::vector<std::string>& special_tokens();

/// The special tokens, then those of `counts` by falling count, equal counts in the order of their bytes, as
/// far as vocab_size and min_frequency let them in. Throws Error when none gets in; `what` they are: "word".
std::vector<std::string> most_frequent(const TextCounts& counts, const Training& training,
                                       const std::string& what);

/// How a family of vocabularies writes its special tokens, by role; "": it has none.
using SpecialNames = std::array<std::string_view, all_specials.size()>;

/// A vocabulary: tokens in the order of their numbers.
class TokenTable {
 public:
  static constexpr std::int32_t no_token = -1;

  TokenTable() = default;
  /// Throws Error for an empty or doubled token and for a missing special one; `kind` of tokenizer:
  /// "WordPiece". The special tokens are the usual ones, or those of one of `others` where the vocabulary has
  /// its opening token.
  TokenTable(std::vector<std::string> tokens, const std::string& kind,
             std::span<const SpecialNames> others = {});

  std::span<const std::string> tokens() const { return tokens_; }
  std::optional<std::int32_t> find(Special role) const {
    const std::int32_t number = special_[static_cast<std::size_t>(role)];
    return number == no_token ? std::nullopt : std::optional(number);
  }
  std::int32_t unknown() const { return special_[static_cast<std::size_t>(Special::unknown)]; }
  /// Whether the token stands for no text: `decode` leaves it out.
  bool is_special(std::int32_t number) const;
  /// [PAD], [UNK], [CLS] or [SEP], or what stands in their place, which every vocabulary has.
  bool is_required(std::int32_t number) const;
  /// The token with this number. Throws std::logic_error where there is none.
  const std::string& token(std::int32_t number) const;
  /// no_token when it is not in the vocabulary.
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
