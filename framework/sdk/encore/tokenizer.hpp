// Tokenizer: text to the numbers of tokens, and back. Runs on the host only, in the worker; all const
// functions are called from several threads at once. Read next: in the source tree
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

/// What a special token is for; such a token stands for no text.
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

/// "padding", for messages.
constexpr std::string_view name_of(Special role) {
  constexpr std::array<std::string_view, all_specials.size()> names = {"padding", "unknown",   "start",
                                                                       "end",     "separator", "mask"};
  return names[static_cast<std::size_t>(role)];
}

/// How BERT's vocabularies write the token with this role, and those that are trained here: "[MASK]".
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
  /// Takes the lines of a vocabulary's file: one token per entry in the order of the numbers, and behind them
  /// what a tokenizer keeps there of its own (merges of byte pairs). Throws Error when it cannot be one
  /// (a token stands twice; none has the role padding, unknown, start or end).
  virtual void load(std::vector<std::string> vocabulary) = 0;
  /// Makes a vocabulary from words or sentences and their counts, then loads it. White space inside one
  /// separates words as it does in `encode`. Equal input gives an equal vocabulary on every machine. Throws
  /// Error when this tokenizer cannot be trained.
  virtual void train(const TextCounts& texts) = 0;
  virtual std::span<const std::string> vocabulary() const = 0;

  /// The number of the token with this role; nothing where the vocabulary has none. After `load` there is one
  /// for padding, unknown, start and end.
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
  /// The same tokens, and for each of them the bytes of `text` it comes from. A token of a character that was
  /// normalised (lowered, decomposed) has the range of that character as it stands in `text`. Ranges may be
  /// empty and may overlap; neither their begins nor their ends decrease.
  void encode(std::string_view text, std::vector<std::int32_t>& tokens,
              std::vector<ByteRange>& ranges) const {
    append_tokens(text, tokens, &ranges);
  }
  /// Whether characters other than white space may lie in the range of no token (a tokenizer that drops
  /// punctuation).
  virtual bool drops_text() const { return false; }

  /// The text of tokens, as far as they say it; special tokens are left out. A token that is part of a
  /// character gives the bytes that it stands for as they are: its neighbours may have the others, and the
  /// caller makes UTF-8 of the whole. More tokens behind these only append to the text.
  virtual std::string decode(std::span<const std::int32_t> tokens) const = 0;

 protected:
  /// Both forms of `encode`; `ranges` is null if the caller does not want them.
  virtual void append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                             std::vector<ByteRange>* ranges) const = 0;
};

}  // namespace encore
