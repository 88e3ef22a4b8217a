// SPDX-License-Identifier: BSD-3-Clause
// Tokenizer "character": a code point is a token; one that is not in the vocabulary is [UNK]. White space and
// control characters are not tokens, unless `white_space` adds those of ASCII: in a vocabulary, a file of
// lines, they are then written as the pictures that Unicode has for them (U+2400 on). Tasks call it through
// Tokenizer (encore/tokenizer.hpp). Models were trained with these tokens, so equal text must always give
// equal tokens.
#include <algorithm>
#include <optional>

#include <encore/plugin.hpp>

#include "code_points.hpp"
#include "vocabulary.hpp"

namespace encore_character_tokenizer {

using namespace encore;
using namespace encore::tokenizers;

constexpr std::int32_t first_picture = 0x2400, picture_of_delete = 0x2421;

/// Returns the picture of an ASCII blank or control character, such as "␊" for a line end, and "␠" for all
/// other white space.
std::int32_t picture_of(std::int32_t blank) {
  if (blank == 0x7F) return picture_of_delete;
  return first_picture + (blank >= 0 && blank <= ' ' ? blank : ' ');
}

/// Returns the character that a picture represents, or nothing for other code points.
std::optional<char> pictured(std::int32_t code_point) {
  if (code_point == picture_of_delete) return '\x7F';
  if (code_point < first_picture || code_point > picture_of(' ')) return std::nullopt;
  return static_cast<char>(code_point - first_picture);
}

class Character final : public Tokenizer {
 public:
  static constexpr const char* summary =
      "one token for each character (Unicode code point); characters outside the vocabulary become the "
      "unknown token";
  static Schema options() {
    return vocabulary_schema(1, "take only characters that occur at least this often")
        .boolean("lowercase", false, {.help = "convert letters to lower case, after compose"})
        .boolean("compose", true, {.help = "combine letters with their marks, such as accents (Unicode NFC)"})
        .boolean(
            "white_space", false,
            {.help = "make tokens of blanks, tabs, line ends and control characters too; the vocabulary "
                     "shows them as `␠`, `␉`, `␊` and so on; other white space counts as a blank. false: "
                     "they are not tokens, and generated text has no blanks"});
  }

  Character(const Options& options, const TokenizerContext&)
      : training_(training_of(options)),
        lowercase_(options.flag("lowercase")),
        compose_(options.flag("compose")),
        white_space_(options.flag("white_space")) {}

  void load(std::vector<std::string> vocabulary) override {
    TokenTable table(std::move(vocabulary), "character");
    for (const std::string& token : table.tokens())
      if (!table.is_special(table.find(token)) && first_code_point(token).bytes != token.size())
        throw Error("invalid token \"" + token +
                    "\": expected a single character; a vocabulary of type \"word\" may hold it");
    table_ = std::move(table);
  }

  void train(const TextCounts& texts) override {
    require_training(training_);
    TextCounts counts;
    std::string kept;
    for (const auto& [text, count] : texts)
      each_character(normal(text, kept), [&, times = count](const std::string& character, ByteRange) {
        counts[character] += times;
      });
    load(most_frequent(counts, training_, "character"));
  }

  std::span<const std::string> vocabulary() const override { return table_.tokens(); }
  std::optional<std::int32_t> find(Special role) const override { return table_.find(role); }

  /// Returns the text, without its blanks if they are not tokens.
  std::string decode(std::span<const std::int32_t> tokens) const override {
    std::string text;
    for (const std::int32_t number : tokens) {
      if (table_.is_special(number)) continue;
      const std::string& token = table_.token(number);
      const std::optional<char> blank = white_space_ ? pictured(first_code_point(token).value) : std::nullopt;
      text += blank ? std::string(1, *blank) : token;
    }
    return text;
  }

 private:
  void append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                     std::vector<ByteRange>* ranges) const override {
    const auto add = [&](const std::string& character, ByteRange range) {
      const std::int32_t number = table_.find(character);
      tokens.push_back(number == TokenTable::no_token ? table_.unknown() : number);
      if (ranges != nullptr) ranges->push_back(range);
    };
    std::string kept;
    const std::string_view whole = normal(text, kept);
    if (ranges == nullptr || whole == text) return each_character(whole, add);
    // Composition does not cross grapheme clusters, so composing cluster by cluster gives the same text.
    std::string kept_part;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      end = begin + first_grapheme_cluster(text.substr(begin));
      const std::string_view cluster = text.substr(begin, end - begin), part = normal(cluster, kept_part);
      each_character(part, [&](const std::string& character, ByteRange range) {
        add(character,
            part == cluster ? ByteRange{begin + range.begin, begin + range.end} : ByteRange{begin, end});
      });
    }
  }

  /// Returns the text, composed if the option is on; a result that differs from the text is stored in `kept`.
  std::string_view normal(std::string_view text, std::string& kept) const {
    const bool ascii = std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
    if (!compose_ || ascii) return text;
    kept = composed(text);
    return kept;
  }

  /// Calls visit(character, its position in `text`). A byte that is not UTF-8 becomes U+FFFD.
  template <class Visit>
  void each_character(std::string_view text, const Visit& visit) const {
    thread_local std::string character;  // encode is const and called from several threads
    CodePoint c;
    for (std::size_t at = 0; at < text.size(); at += c.bytes) {
      c = first_code_point(text.substr(at));
      const bool blank = c.value != no_code_point && is_blank(c.value);
      if (blank && !is_token(c.value)) continue;
      character.clear();
      append(character, blank                      ? picture_of(c.value)
                        : c.value == no_code_point ? 0xFFFD
                        : lowercase_               ? lower(c.value)
                                                   : c.value);
      visit(character, {at, at + c.bytes});
    }
  }

  /// Returns whether this white space, control or format character is a token.
  bool is_token(std::int32_t blank) const { return white_space_ && (blank < 0x80 || is_white_space(blank)); }

  Training training_;
  bool lowercase_;
  bool compose_;
  bool white_space_;
  TokenTable table_;
};

}  // namespace encore_character_tokenizer

ENCORE_PLUGIN("character_tokenizer", "1.0.0") {
  plugin.add<encore::Kind::tokenizer, encore_character_tokenizer::Character>("character");
}
