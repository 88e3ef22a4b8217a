// Tokenizer "character": a code point is a piece; one that is not in the vocabulary is [UNK]. White space and
// control characters are no pieces.
#include <algorithm>

#include <encore/plugin.hpp>

#include "code_points.hpp"
#include "vocabulary.hpp"

namespace encore_character_tokenizer {

using namespace encore;
using namespace encore::tokenizers;

class Character final : public Tokenizer {
 public:
  static constexpr const char* summary = "one piece per code point";
  static Schema options() {
    return vocabulary_schema(1, "take only characters that stand at least this often")
        .boolean("lowercase", false, {.help = "lower each letter first"})
        .boolean("compose", true, {.help = "compose letters and their marks first (Unicode NFC)"});
  }

  Character(const Options& options, const TokenizerContext&)
      : training_(training_of(options)),
        lowercase_(options.flag("lowercase")),
        compose_(options.flag("compose")) {}

  void load(std::vector<std::string> vocabulary) override {
    PieceTable table(std::move(vocabulary), "character");
    for (const std::string& piece : table.pieces())
      if (!table.is_special(table.find(piece)) && first_code_point(piece).bytes != piece.size())
        throw Error("the piece \"" + piece +
                    "\" is no single character; a vocabulary of type \"word\" may hold it");
    table_ = std::move(table);
  }

  void train(const std::map<std::string, std::int64_t>& words) override {
    require_training(training_);
    std::map<std::string, std::int64_t> counts;
    for (const auto& [text, count] : words)
      each_character(text, [&, times = count](const std::string& character) { counts[character] += times; });
    load(most_frequent(counts, training_, "character"));
  }

  std::span<const std::string> vocabulary() const override { return table_.pieces(); }
  SpecialPieces special() const override { return table_.special(); }

  void encode(std::string_view text, std::vector<std::int32_t>& pieces) const override {
    each_character(text, [&](const std::string& character) {
      const std::int32_t number = table_.find(character);
      pieces.push_back(number == PieceTable::no_piece ? table_.special().unknown : number);
    });
  }

 private:
  /// A byte that is not UTF-8 comes as U+FFFD.
  template <class Visit>
  void each_character(std::string_view text, const Visit& visit) const {
    const bool ascii = std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
    const std::string normal = compose_ && !ascii ? composed(text) : std::string();
    std::string_view rest = compose_ && !ascii ? normal : text;
    thread_local std::string character;  // encode is const and called from several threads
    for (CodePoint c; !rest.empty(); rest.remove_prefix(c.bytes)) {
      c = first_code_point(rest);
      if (is_blank(c.value)) continue;
      character.clear();
      append(character, c.value == no_code_point ? 0xFFFD : lowercase_ ? lower(c.value) : c.value);
      visit(character);
    }
  }

  Training training_;
  bool lowercase_;
  bool compose_;
  PieceTable table_;
};

}  // namespace encore_character_tokenizer

ENCORE_PLUGIN("character_tokenizer", "1.0.0") {
  plugin.add<encore::Kind::tokenizer, encore_character_tokenizer::Character>("character");
}
