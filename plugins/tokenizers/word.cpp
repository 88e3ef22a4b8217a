// SPDX-License-Identifier: BSD-3-Clause
// Tokenizer "word": each word is a token. White space and control characters separate words. A word that is
// not in the vocabulary is [UNK], also if it is spelled like a special token. Tasks call it through Tokenizer
// (encore/tokenizer.hpp). Models were trained with these tokens, so equal text must always give equal tokens.
#include <encore/plugin.hpp>

#include "code_points.hpp"
#include "vocabulary.hpp"

namespace encore_word_tokenizer {

using namespace encore;
using namespace encore::tokenizers;

class Word final : public Tokenizer {
 public:
  static constexpr const char* summary =
      "one token for each word; a word is everything between white space or control characters, with its "
      "punctuation; words outside the vocabulary become the unknown token";
  static Schema options() {
    return vocabulary_schema(1, "take only words that occur at least this often")
        .boolean("lowercase", false, {.help = "convert letters to lower case"});
  }

  Word(const Options& options, const TokenizerContext&)
      : training_(training_of(options)), lowercase_(options.flag("lowercase")) {}

  void load(std::vector<std::string> vocabulary) override {
    table_ = TokenTable(std::move(vocabulary), "word");
  }

  void train(const TextCounts& texts) override {
    require_training(training_);
    TextCounts counts;
    for (const auto& [text, count] : texts)
      each_word(text, [&, times = count](const std::string& word, ByteRange) { counts[word] += times; });
    load(most_frequent(counts, training_, "word"));
  }

  std::span<const std::string> vocabulary() const override { return table_.tokens(); }
  std::optional<std::int32_t> find(Special role) const override { return table_.find(role); }

  /// Returns the words with a blank between them.
  std::string decode(std::span<const std::int32_t> tokens) const override {
    std::string text;
    for (const std::int32_t number : tokens) {
      if (table_.is_special(number)) continue;
      text += (text.empty() ? "" : " ") + table_.token(number);
    }
    return text;
  }

 private:
  void append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                     std::vector<ByteRange>* ranges) const override {
    each_word(text, [&](const std::string& word, ByteRange range) {
      const std::int32_t number = table_.find(word);
      const bool known = number != TokenTable::no_token && !table_.is_required(number);
      tokens.push_back(known ? number : table_.unknown());
      if (ranges != nullptr) ranges->push_back(range);
    });
  }

  /// Calls visit(word, its position in the text). Bytes that are not UTF-8 become U+FFFD.
  template <class Visit>
  void each_word(std::string_view text, const Visit& visit) const {
    thread_local std::string word;  // encode is const and called from several threads
    word.clear();
    std::size_t begin = 0, at = 0;
    for (CodePoint c; at < text.size(); at += c.bytes) {
      c = first_code_point(text.substr(at));
      if (!is_blank(c.value)) {
        if (word.empty()) begin = at;
        append(word, c.value == no_code_point ? 0xFFFD : lowercase_ ? lower(c.value) : c.value);
      } else if (!word.empty()) {
        visit(word, {begin, at});
        word.clear();
      }
    }
    if (!word.empty()) visit(word, {begin, at});
  }

  Training training_;
  bool lowercase_;
  TokenTable table_;
};

}  // namespace encore_word_tokenizer

ENCORE_PLUGIN("word_tokenizer", "1.0.0") {
  plugin.add<encore::Kind::tokenizer, encore_word_tokenizer::Word>("word");
}
