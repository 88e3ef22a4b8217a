// SPDX-License-Identifier: BSD-3-Clause
// Tests the checks of tokenizers (framework/contract/tokenizer_checks.cpp): the contract suite, which `exp
// plugin check` runs, gets tokenizers with one mistake each and must name every mistake.
#include <algorithm>
#include <map>
#include <set>

#include <encore/plugin.hpp>

#include "contract/findings.hpp"

namespace encore::testing {
namespace {

enum class Flaw {
  none,
  overwrites,
  accepts_anything,
  lacks_a_role,
  role_outside,
  keeps_blanks,
  loses_a_range,
  range_outside,
  range_backwards,
  range_too_short,
  says_it_drops,
  other_tokens_with_ranges,
  spells_backwards,
  shows_special_tokens,
};

/// A tokenizer that makes one token of each word, with one mistake.
template <Flaw F>
class Words final : public Tokenizer {
 public:
  static Schema options() { return {}; }
  Words(const Options&, const TokenizerContext&) {}
  void load(std::vector<std::string> vocabulary) override {
    std::map<std::string, std::int32_t> numbers;
    for (const std::string& token : vocabulary)
      numbers.emplace(token, static_cast<std::int32_t>(numbers.size()));
    if (F != Flaw::accepts_anything && (numbers.size() != vocabulary.size() || !numbers.contains("[UNK]")))
      throw Error("not a vocabulary");
    vocabulary_ = std::move(vocabulary);
    numbers_ = std::move(numbers);
  }
  void train(const TextCounts& texts) override {
    std::set<std::string> words;
    for (const auto& [text, count] : texts)
      for (const ByteRange word : cut(text)) words.insert(text.substr(word.begin, word.end - word.begin));
    if (F == Flaw::keeps_blanks) {
      words.clear();
      for (const auto& [text, count] : texts) words.insert(text);
    }
    std::vector<std::string> vocabulary = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};
    vocabulary.insert(vocabulary.end(), words.begin(), words.end());
    load(std::move(vocabulary));
  }
  std::span<const std::string> vocabulary() const override { return vocabulary_; }
  std::optional<std::int32_t> find(Special role) const override {
    if (role == Special::mask || (F == Flaw::lacks_a_role && role == Special::end)) return std::nullopt;
    if (F == Flaw::role_outside && role == Special::separator) return 100000;
    return std::min(static_cast<std::int32_t>(role), 3);
  }
  bool drops_text() const override { return F == Flaw::says_it_drops; }
  std::string decode(std::span<const std::int32_t> tokens) const override {
    std::string text;
    for (const std::int32_t number : tokens) {
      if (number < 4 && F != Flaw::shows_special_tokens) continue;
      const std::string& token = vocabulary_.at(static_cast<std::size_t>(number));
      text += (text.empty() ? "" : " ") +
              (F == Flaw::spells_backwards ? std::string(token.rbegin(), token.rend()) : token);
    }
    return text;
  }

 private:
  static std::vector<ByteRange> cut(std::string_view text) {
    std::vector<ByteRange> words;
    bool open = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool blank = text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r');
      if (!blank && !open) words.push_back({at, at});
      if (!blank) words.back().end = at + 1;
      open = !blank;
    }
    return words;
  }
  void append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                     std::vector<ByteRange>* ranges) const override {
    if (F == Flaw::overwrites) tokens.clear();
    std::size_t number = 0;
    for (ByteRange word : cut(text)) {
      const auto found = numbers_.find(std::string(text.substr(word.begin, word.end - word.begin)));
      tokens.push_back(found == numbers_.end() ? 1 : found->second);
      if (ranges == nullptr) continue;
      if (F == Flaw::other_tokens_with_ranges) tokens.back() = 1;
      if (F == Flaw::range_outside) word.end = text.size() + 1;
      if (F == Flaw::range_backwards && number++ > 0) word = {0, 0};
      if ((F == Flaw::range_too_short || F == Flaw::says_it_drops) && word.end > word.begin + 1) --word.end;
      if (F != Flaw::loses_a_range || word.begin > 0) ranges->push_back(word);
    }
  }

  std::vector<std::string> vocabulary_;
  std::map<std::string, std::int32_t> numbers_;
};

template <Flaw F>
std::string failures_of_words() {
  Registrar registrar;
  registrar.add<Kind::tokenizer, Words<F>>("words");
  return failures(findings_of(registrar.offers().front()));
}

TEST(SuiteFinds, NothingInATokenizerWithoutMistake) {
  EXPECT_EQ(failures_of_words<Flaw::none>(), "");
  EXPECT_EQ(failures_of_words<Flaw::says_it_drops>(), "") << "it may, for it says so";
}

TEST(SuiteFinds, ATokenizerThatOverwritesOrAcceptsAnything) {
  expect_said(failures_of_words<Flaw::overwrites>(),
              "encoding: encode overwrites what is in the list; it must append");
  expect_said(failures_of_words<Flaw::accepts_anything>(),
              "loading: a vocabulary without the unknown token is accepted");
}

TEST(SuiteFinds, ATokenizerWithoutASpecialToken) {
  expect_said(failures_of_words<Flaw::lacks_a_role>(),
              "special tokens: no token has the role \"end\", which every vocabulary needs");
  expect_said(
      failures_of_words<Flaw::role_outside>(),
      "special tokens: the token with the role \"separator\" has the number 100000, which is not in the "
      "vocabulary");
}

TEST(SuiteFinds, ATokenizerThatTakesATextForAWord) {
  expect_said(failures_of_words<Flaw::keeps_blanks>(), "training on lines: after training on \"");
  expect_said(failures_of_words<Flaw::keeps_blanks>(),
              "its words are not known; white space within a text of train() separates words, as it does in "
              "encode");
}

TEST(SuiteFinds, RangesThatAreNotThoseOfTheTokens) {
  expect_said(failures_of_words<Flaw::loses_a_range>(), "ranges: of \"unseen\": 1 tokens have 0 ranges");
  expect_said(failures_of_words<Flaw::range_outside>(),
              "ranges: of \"unseen\": range 0 is [0, 7), which is not a part of its 6 bytes");
  expect_said(failures_of_words<Flaw::range_backwards>(), " and lies before the one in front of it");
  expect_said(failures_of_words<Flaw::range_too_short>(),
              "ranges: of \"unseen\": byte 5 lies in no range, and drops_text() is false");
  expect_said(failures_of_words<Flaw::other_tokens_with_ranges>(),
              "encode gives other tokens where ranges are asked for");
}

TEST(SuiteFinds, ATokenizerThatCannotSpell) {
  expect_said(failures_of_words<Flaw::spells_backwards>(),
              "decoding: decode makes \"eht\" of the tokens of \"the\"");
  expect_said(failures_of_words<Flaw::shows_special_tokens>(),
              "decoding: decode does not leave out the token with the role \"padding\"");
}

}  // namespace
}  // namespace encore::testing
