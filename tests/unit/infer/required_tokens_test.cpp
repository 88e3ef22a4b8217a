// SPDX-License-Identifier: BSD-3-Clause
// Tests RequiredTokens (infer/required_tokens.hpp), which says how far an output has written the strings that
// it must have, and the beam search with them (infer/beam_search.hpp). The tokenizer is made for the test,
// and hand-written tables of probabilities take the place of a model. Whatever the probabilities, an output
// that ends has all its strings.
#include "infer/required_tokens.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "infer/beam_search.hpp"
#include "unit/steps/samples.hpp"

namespace encore::infer {
namespace {

using Tokens = std::vector<std::int32_t>;

constexpr std::int32_t end = 0;

/// Tokens are parts of words; "_" at their beginning is a blank. Text is cut into the longest tokens.
class PartTokenizer final : public Tokenizer {
 public:
  PartTokenizer()
      : entries_({"</s>", "?", "_a", "_dog", "s", "_cat", "_big", "_house", "_", "b", "oat", "_dog house",
                  ",", "<pad>", "<s>"}) {}
  void load(std::vector<std::string>) override {}
  void train(const TextCounts&) override {}
  std::span<const std::string> vocabulary() const override { return entries_; }
  std::optional<std::int32_t> find(Special role) const override {
    if (role == Special::end) return end;
    if (role == Special::unknown) return 1;
    return role == Special::padding ? 13 : 14;
  }
  std::string decode(std::span<const std::int32_t> tokens) const override {
    std::string text;
    for (const std::int32_t token : tokens)
      if (token > 1) text += entries_[static_cast<std::size_t>(token)];
    std::ranges::replace(text, '_', ' ');
    return text;
  }

 protected:
  void append_tokens(std::string_view text, Tokens& tokens, std::vector<ByteRange>*) const override {
    std::string marked = "_" + std::string(text);
    std::ranges::replace(marked, ' ', '_');
    for (std::size_t byte = 0; byte < marked.size();) {
      std::size_t best = 1, size = 0;
      for (std::size_t i = 2; i < entries_.size(); ++i)
        if (entries_[i].size() > size && marked.substr(byte).starts_with(entries_[i])) {
          best = i;
          size = entries_[i].size();
        }
      tokens.push_back(static_cast<std::int32_t>(best));
      byte += std::max<std::size_t>(size, 1);
    }
  }

 private:
  std::vector<std::string> entries_;
};

enum : std::int32_t { a = 2, dog, s, cat, big, house, blank, b, oat, unused, comma };

class RequiredTokensTest : public ::testing::Test {
 protected:
  RequiredTokens required(const std::vector<RequiredText>& texts) { return {tokenizer_, texts}; }
  /// Returns the tokens that an output of these tokens lacks.
  static std::int64_t missing(const RequiredTokens& required, const Tokens& output) {
    RequiredTokens::Progress progress = required.begin();
    for (std::size_t i = 0; i < output.size(); ++i)
      progress = required.after(progress, std::span(output).first(i), output[i]);
    return progress.missing;
  }
  PartTokenizer tokenizer_;
};

TEST_F(RequiredTokensTest, CountsTheTokensThatAreMissing) {
  const RequiredTokens boat = required({{.forms = {"boat"}}});  // "_", "b", "oat"
  EXPECT_EQ(missing(boat, {}), 3);
  EXPECT_EQ(missing(boat, {a, blank}), 2);
  EXPECT_EQ(missing(boat, {a, blank, b}), 1);
  EXPECT_EQ(missing(boat, {a, blank, b, oat}), 0);
  EXPECT_EQ(missing(boat, {a, blank, b, oat, a, dog}), 0);
  EXPECT_EQ(missing(boat, {a, blank, b, a}), 3) << "another token ends the match";
  EXPECT_EQ(missing(boat, {blank, b, blank, b, oat, end}), 0);
}

TEST_F(RequiredTokensTest, AWordWithMoreLettersIsAnotherWord) {
  const RequiredTokens one = required({{.forms = {"dog"}}}), either = required({{.forms = {"dog", "dogs"}}});
  EXPECT_EQ(missing(one, {dog}), 0) << "complete unless letters follow";
  EXPECT_EQ(missing(one, {dog, s}), 1);
  EXPECT_EQ(missing(one, {dog, comma}), 0);
  EXPECT_EQ(missing(either, {dog, s}), 0);
  EXPECT_EQ(missing(either, {dog, s, a}), 0);
}

TEST_F(RequiredTokensTest, EveryOccurrenceCountsOnce) {
  const RequiredTokens twice = required({{.forms = {"dog"}, .times = 2}, {.forms = {"cat"}}});
  EXPECT_EQ(missing(twice, {}), 3);
  EXPECT_EQ(missing(twice, {dog, a}), 2);
  EXPECT_EQ(missing(twice, {dog, cat, dog}), 0);
  EXPECT_EQ(twice.wanted(twice.begin()), (Tokens{dog, cat}));
}

TEST_F(RequiredTokensTest, WhatTheVocabularyLacksIsIgnored) {
  EXPECT_TRUE(required({{.forms = {"zebra"}}}).empty());
  EXPECT_EQ(missing(required({{.forms = {"zebra", "cat"}}}), {}), 1);
  EXPECT_TRUE(required({}).empty());
}

TEST_F(RequiredTokensTest, AWantedTokenAlwaysMakesTheRestSmaller) {
  const std::vector<RequiredText> texts = {{.forms = {"boat", "big boat"}, .times = 2},
                                           {.forms = {"big dog"}},
                                           {.forms = {"big cat house", "cats"}}};
  const RequiredTokens all = required(texts);
  test::Draws draws(7);
  for (int trial = 0; trial < 300; ++trial) {
    Tokens output;
    RequiredTokens::Progress progress = all.begin();
    for (int i = 0; i < 12; ++i) {
      const Tokens wanted = all.wanted(progress);
      if (progress.missing > 0) {
        std::int64_t least = progress.missing;
        for (const std::int32_t token : wanted)
          least = std::min(least, all.after(progress, output, token).missing);
        EXPECT_LT(least, progress.missing);
      }
      const auto any = static_cast<std::int32_t>(2 + draws.next() % 11);
      const bool takes_wanted = !wanted.empty() && draws.uniform() < 0.5;
      const std::int32_t next = takes_wanted ? wanted[draws.next() % wanted.size()] : any;
      progress = all.after(progress, output, next);
      output.push_back(next);
    }
  }
}

// --- the search ---

/// Runs a search whose next tokens have drawn probabilities that depend on the output; the end is probable.
std::vector<GeneratedText> searched(const RequiredTokens* required, std::int64_t beam, std::int64_t most,
                                    std::uint64_t seed) {
  const Decoding decoding{.beam = beam};
  BeamSearch search(decoding, end, most, required);
  while (!search.done()) {
    std::vector<std::vector<NextToken>> of;
    for (std::size_t i = 0; i < search.live().size(); ++i) {
      std::uint64_t state = seed;
      for (const std::int32_t token : search.live()[i].tokens)
        state = state * 31 + static_cast<std::uint64_t>(token);
      test::Draws draws(state);
      std::vector<NextToken> tokens;
      for (std::int32_t token = 0; token < 13; ++token)
        if (token != 1)
          tokens.push_back({token, std::log(token == end ? 0.5 : 0.001 + 0.04 * draws.uniform())});
      std::ranges::stable_sort(tokens, std::ranges::greater(), &NextToken::log_probability);
      std::vector<NextToken> best(tokens.begin(), tokens.begin() + BeamSearch::candidates(beam));
      for (const std::int32_t wanted : search.wanted(i))
        if (std::ranges::find(best, wanted, &NextToken::token) == best.end())
          best.push_back(*std::ranges::find(tokens, wanted, &NextToken::token));
      of.push_back(std::move(best));
    }
    search.advance(of);
  }
  return search.best(static_cast<std::size_t>(beam));
}

TEST_F(RequiredTokensTest, EveryOutputOfASearchHasItsStrings) {
  const std::vector<RequiredText> texts = {{.forms = {"boat"}}, {.forms = {"dog", "dogs"}, .times = 2}};
  const RequiredTokens all = required(texts);
  for (const std::int64_t beam : {1, 2, 3, 5})
    for (const std::int64_t most : {5, 6, 9, 15})
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const std::vector<GeneratedText> outputs = searched(&all, beam, most, seed);
        ASSERT_FALSE(outputs.empty());
        for (const GeneratedText& output : outputs) {
          EXPECT_EQ(missing(all, output.tokens), 0) << "beam " << beam << ", most " << most;
          EXPECT_LE(std::ssize(output.tokens), most);
        }
        EXPECT_EQ(outputs.front().tokens, searched(&all, beam, most, seed).front().tokens);
      }
}

TEST_F(RequiredTokensTest, WithoutStringsASearchIsTheUsualOne) {
  const RequiredTokens none = required({}), too_long = required({{.forms = {"boat"}, .times = 9}});
  for (const std::int64_t beam : {1, 4})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const std::vector<GeneratedText> usual = searched(nullptr, beam, 8, seed);
      for (const RequiredTokens* required : {&none, &too_long}) {
        const std::vector<GeneratedText> outputs = searched(required, beam, 8, seed);
        ASSERT_EQ(outputs.size(), usual.size());
        for (std::size_t i = 0; i < usual.size(); ++i) {
          EXPECT_EQ(outputs[i].tokens, usual[i].tokens);
          EXPECT_EQ(outputs[i].score, usual[i].score);
        }
      }
    }
}

TEST_F(RequiredTokensTest, AnImprobableTextStandsWhereItCostsLeast) {
  // After "a" a cat is improbable, elsewhere impossible; everything else is probable.
  const RequiredTokens all = required({{.forms = {"cat"}}});
  BeamSearch search({.beam = 4}, end, 3, &all);
  const auto next = [&](std::initializer_list<std::pair<std::int32_t, double>> of) {
    std::vector<NextToken> list;
    for (const auto& [token, probability] : of) list.push_back({token, std::log(probability)});
    return list;
  };
  while (!search.done()) {
    std::vector<std::vector<NextToken>> of;
    for (const BeamSearch::Live& live : search.live())
      of.push_back(live.tokens.empty()         ? next({{a, 0.9}, {big, 0.09}, {cat, 1e-6}})
                   : live.tokens.back() == a   ? next({{dog, 0.9}, {end, 0.05}, {cat, 1e-3}})
                   : live.tokens.back() == cat ? next({{end, 0.9}, {big, 0.05}})
                                               : next({{end, 0.9}, {a, 0.05}, {cat, 1e-9}}));
    search.advance(of);
  }
  EXPECT_EQ(search.best(1).front().tokens, (Tokens{a, cat}));
}

}  // namespace
}  // namespace encore::infer
