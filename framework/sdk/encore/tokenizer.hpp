// SPDX-License-Identifier: BSD-3-Clause
// Tokenizer: the plugin that cuts text into tokens, which are numbers, and makes text of tokens again. The
// code runs on the host, in the worker. The host loads or trains a vocabulary; then Task::encode calls
// encode, and generation calls decode. Several threads call the const functions at once. The header is part
// of the ABI of plugins: a change needs a new ENCORE_SDK_VERSION (plugin.hpp). Read next:
// plugins/tokenizers/wordpiece.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/error.hpp>
#include <encore/options.hpp>

namespace encore {

/// The role of a special token, which has no text.
enum class Special : std::uint8_t {
  padding,    ///< fills sequences up to one length
  unknown,    ///< in place of text that the vocabulary has no token for
  start,      ///< opens a sequence; its row stands for the whole of it
  end,        ///< closes a sequence
  separator,  ///< between two parts of a sequence; may be the token of `end`
  mask,       ///< in place of a token that is to be guessed
};

inline constexpr std::array all_specials = {Special::padding, Special::unknown,   Special::start,
                                            Special::end,     Special::separator, Special::mask};

/// Returns the name of a role for messages, such as "padding". Indexed by Special, like usual_token.
constexpr std::string_view name_of(Special role) {
  constexpr std::array<std::string_view, all_specials.size()> names = {"padding", "unknown",   "start",
                                                                       "end",     "separator", "mask"};
  return names[static_cast<std::size_t>(role)];
}

/// Returns how BERT's vocabularies, and vocabularies that Encore trains, write the token with this role:
/// "[MASK]".
constexpr std::string_view usual_token(Special role) {
  constexpr std::array<std::string_view, all_specials.size()> tokens = {"[PAD]", "[UNK]", "[CLS]",
                                                                        "[SEP]", "[SEP]", "[MASK]"};
  return tokens[static_cast<std::size_t>(role)];
}

/// The bytes [begin, end) of a text.
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// Distinct words or sentences and how often each stands in a training set: what a vocabulary is
/// trained from.
using TextCounts = std::map<std::string, std::int64_t>;

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// Loads the lines of a vocabulary file: one token per entry in the order of the numbers, followed by lines
  /// that the tokenizer keeps for itself (merges of byte pairs). Throws Error for an invalid vocabulary: a
  /// token occurs twice, or none has the role padding, unknown, start or end.
  virtual void load(std::vector<std::string> vocabulary) = 0;
  /// Makes a vocabulary from words or sentences and their counts, then loads it. White space inside one
  /// separates words as it does in `encode`. Equal input gives an equal vocabulary on every machine. Throws
  /// Error when this tokenizer cannot be trained.
  virtual void train(const TextCounts& texts) = 0;
  virtual std::span<const std::string> vocabulary() const = 0;

  /// Returns the number of the token with this role; nothing if the vocabulary has none. After `load` there
  /// is one for padding, unknown, start and end.
  virtual std::optional<std::int32_t> find(Special role) const = 0;
  /// The same for a task that needs it: throws Error naming the token that the vocabulary lacks.
  std::int32_t special(Special role) const {
    if (const std::optional<std::int32_t> token = find(role)) return *token;
    throw Error("the vocabulary has no token for the role \"" + std::string(name_of(role)) +
                "\"; add the line " + std::string(usual_token(role)) + " to its file");
  }

  /// Appends the tokens of one word or text; appends nothing for a text without any (white space, control
  /// characters).
  void encode(std::string_view text, std::vector<std::int32_t>& tokens) const {
    append_tokens(text, tokens, nullptr);
  }
  /// Appends the same tokens, and for each of them the range of bytes of `text` that it comes from. A token
  /// of a character that was normalized (lowered, decomposed) has the range of that character in `text`.
  /// Ranges may be empty and may overlap; neither their begins nor their ends decrease.
  void encode(std::string_view text, std::vector<std::int32_t>& tokens,
              std::vector<ByteRange>& ranges) const {
    append_tokens(text, tokens, &ranges);
  }
  /// Returns whether characters other than white space may be in no token's range (a tokenizer that drops
  /// punctuation).
  virtual bool drops_text() const { return false; }

  /// Returns the text of tokens; special tokens are left out. A token that is part of a character gives its
  /// bytes as they are: its neighbours may have the others, and the caller makes the whole valid UTF-8.
  /// Appending tokens only appends to the text.
  virtual std::string decode(std::span<const std::int32_t> tokens) const = 0;

 protected:
  /// Both forms of `encode`; `ranges` is null if the caller does not want them.
  virtual void append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                             std::vector<ByteRange>* ranges) const = 0;
};

}  // namespace encore
