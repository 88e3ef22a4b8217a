// SPDX-License-Identifier: BSD-3-Clause
// Makes the tokenizers of shipped_tokenizers.hpp. All plugins have one entry point of the same name;
// CMakeLists.txt renames those of the sources that are compiled into this program.
#include "fuzz/shipped_tokenizers.hpp"

#include <algorithm>
#include <stdexcept>

extern "C" {
const char* encore_register_wordpiece(encore::Registrar* to);
const char* encore_register_byte_bpe(encore::Registrar* to);
const char* encore_register_character(encore::Registrar* to);
const char* encore_register_word(encore::Registrar* to);
#ifdef ENCORE_HAVE_SENTENCEPIECE
const char* encore_register_unigram(encore::Registrar* to);
#endif
}

namespace encore::fuzz {

namespace {

using Numbers = std::vector<std::int32_t>;

void require(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what);
}

}  // namespace

const std::vector<Offer>& tokenizer_offers() {
  static const std::vector<Offer> offers = [] {
    Registrar registrar;
    for (const auto enter : {
             encore_register_wordpiece,
             encore_register_byte_bpe,
             encore_register_character,
             encore_register_word,
#ifdef ENCORE_HAVE_SENTENCEPIECE
             encore_register_unigram,
#endif
         })
      if (const char* failure = enter(&registrar)) throw std::logic_error(failure);
    return registrar.offers();
  }();
  return offers;
}

std::unique_ptr<Tokenizer> make_tokenizer(const std::string& name, const Options& options) {
  const auto offer = std::ranges::find(tokenizer_offers(), name, &Offer::name);
  if (offer == tokenizer_offers().end()) throw Error("no tokenizer is called " + name);
  Options all = options;
  for (const Option& option : offer->options.options())
    if (option.fallback && !all.has(option.name)) all.set_default(option.name, *option.fallback);
  return make<Kind::tokenizer>(*offer, all, {});
}

void require_sound(const Tokenizer& tokenizer, std::string_view text) {
  Numbers plain, tokens;
  std::vector<ByteRange> ranges;
  tokenizer.encode(text, plain);
  tokenizer.encode(text, tokens, ranges);
  require(plain == tokens, "other tokens where ranges are asked for");
  require(tokens.size() == ranges.size(), "another number of ranges than of tokens");
  const auto size = static_cast<std::int32_t>(tokenizer.vocabulary().size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    require(tokens[i] >= 0 && tokens[i] < size, "a number outside of the vocabulary");
    require(ranges[i].begin <= ranges[i].end && ranges[i].end <= text.size(), "a range outside of the text");
    require(i == 0 || (ranges[i - 1].begin <= ranges[i].begin && ranges[i - 1].end <= ranges[i].end),
            "a range that goes back");
  }
  tokenizer.decode(tokens);
}

const std::vector<std::string>& hostile_texts() {
  static const std::vector<std::string> texts = {
      "",
      "The lowest Turm, don't! 2026 new\tnewest\r\n",
      std::string("a\0b\x1b[31m\x7f", 8),
      "\xff\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80 \xe6\x97",
      "a\u0301\u0327\u0301\u0327e\u0308 \u212b\ufb01 \u0130\u1e9e",
      "\u65e5\u672c\u4e2d\u56fd \ud55c\uad6d \U0001F642\u200d\U0001F642",
      "\u00a0\u2003\u3000\u2028\u200b\ufeff\u00ad",
      "[CLS] [MASK]<mask></s> <extra_id_0> <extra_id_ ##s >>de<< \u2581\u2581 <0xE4> <|endoftext|>",
      std::string(400, 'x') + std::string(50, ' ') + std::string(200, '.')};
  return texts;
}

}  // namespace encore::fuzz
