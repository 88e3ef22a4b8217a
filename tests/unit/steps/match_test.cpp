// SPDX-License-Identifier: BSD-3-Clause
// Tests the step `match` (plugins/steps/match/match.hpp): spans and their places, labels of groups, matches
// that are empty or inside each other, the label of a record, and refusals of invalid expressions. Read next:
// plugins/steps/match/expression.cpp.
#include "match/match.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "unit/steps/samples.hpp"

namespace encore::match {
namespace {

using Names = std::vector<std::string>;

Match step(const Names& expressions, std::map<std::string, OptionValue> settings = {}) {
  settings["expressions"] = expressions;
  return {test::step_options<Match>(settings), {.name = "match"}};
}

Records texts(const Names& all) {
  Records records;
  records.add("text", all);
  return records;
}

/// Returns "label text start-end" for each span of a text.
Names found(const Names& expressions, const std::string& text) {
  const Records given = step(expressions).apply(texts({text}));
  Names all;
  for (const TextSpan& span : given.spans("entities")[0])
    all.push_back(span.label + " " + span.text + " " + std::to_string(span.start) + "-" +
                  std::to_string(span.end));
  return all;
}

TEST(MatchStep, GivesASpanForEachNamedGroup) {
  EXPECT_EQ(found({R"(date : (?P<date>[0-9/]+))", R"(total (?P<total>[0-9]+\.[0-9]{2}))"},
                  "total 9.00 | date : 12/03/2024 | total 5.50"),
            (Names{"total 9.00 6-10", "date 12/03/2024 20-30", "total 5.50 39-43"}));
  EXPECT_EQ(found({R"((?P<a>x)(y)(?P<b>z)?)"}, "xy xyz"), (Names{"a x 0-1", "a x 3-4", "b z 5-6"}))
      << "a group without a name, and one that has no part in a match, give none";
  EXPECT_EQ(found({R"((?P<all>a(?P<part>b)c))"}, "abc"), (Names{"all abc 0-3", "part b 1-2"}));
  EXPECT_EQ(found({R"((?P<item__amount>\d+))"}, "7"), Names{"item.amount 7 0-1"});
  EXPECT_EQ(found({R"((?P<a>x)|(?P<a>y))"}, "yx"), (Names{"a y 0-1", "a x 1-2"})) << "a name may stand twice";
  EXPECT_EQ(found({R"((?P<a>q))"}, "xyz"), Names{});
  EXPECT_EQ(found({R"((?P<a>q))"}, ""), Names{});
}

TEST(MatchStep, CountsCharactersAndNotBytes) {
  EXPECT_EQ(
      found({R"((?P<city>Z.rich))", R"((?P<sum>[0-9]+) €)"}, "\u00FC Z\u00FCrich 5 \u20AC, Z\u00FCrich"),
      (Names{"city Z\u00FCrich 2-8", "sum 5 9-10", "city Z\u00FCrich 14-20"}));
}

TEST(MatchStep, TakesEmptyMatchesAndAnchorsOnce) {
  EXPECT_EQ(found({R"((?P<a>x*))"}, "\u00FCxx\u00FC"), Names{"a xx 1-3"});
  EXPECT_EQ(found({R"(^(?P<first>\w+))"}, "one two"), Names{"first one 0-3"})
      << "^ is the start of the text alone";
  EXPECT_EQ(found({R"(\b(?P<w>a+)\b)"}, "aa baa a"), (Names{"w aa 0-2", "w a 7-8"}));
}

TEST(MatchStep, OrdersSpansByTheirPlace) {
  EXPECT_EQ(found({R"((?P<b>two))", R"((?P<a>one))", R"((?P<c>on))"}, "one two"),
            (Names{"a one 0-3", "c on 0-2", "b two 4-7"}));
}

TEST(MatchStep, GivesTheLabelOfTheFirstExpressionThatMatches) {
  Match match = step({R"((?P<reminder>reminder|still open))", R"((?P<bill>total))"});
  const Records given = match.apply(texts({"total still open", "the total", "an order"}));
  EXPECT_EQ(given.texts("label"), (Names{"reminder", "bill", ""}));
  EXPECT_EQ(given.texts("text"), (Names{"total still open", "the total", "an order"}));
  EXPECT_EQ(given.texts("shown"), (Names{"bill total, reminder still open", "bill total", "no match"}));
}

TEST(MatchStep, ReadsTheStatedField) {
  Match match = step({R"((?P<a>x))"}, {{"field", std::string("words.text")}});
  EXPECT_EQ(match.fields().reads, Names{"words.text"});
  EXPECT_EQ(match.fields().gives, (Names{"text", "entities", "label"}));
  EXPECT_TRUE(match.fields().truth.empty());
  Records records;
  records.add("words.text", Records::Texts{"ax"});
  EXPECT_EQ(match.apply(records).spans("entities")[0].size(), 1U);
}

TEST(MatchStep, AnswersARecordByItself) {
  Match match = step({R"((?P<n>\d+))"});
  Names all;
  for (int i = 0; i < 50; ++i) all.push_back("n" + std::to_string(i * i) + " and " + std::to_string(i));
  const Records together = match.apply(texts(all));
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(match.apply(texts({all[i]})).spans("entities")[0], together.spans("entities")[i]);
}

/// An expression that takes other engines a time that doubles with each character.
TEST(MatchStep, NeedsNoLongTimeForAnyText) {
  EXPECT_EQ(found({R"((?P<a>(x+x+)+y))"}, std::string(20000, 'x')), Names{});
}

TEST(MatchStep, RefusesInvalidExpressions) {
  const auto refusal = [](const std::string& pattern) { return test::refusal([&] { step({pattern}); }); };
  EXPECT_EQ(
      refusal("(?P<a>[0-9)"),
      "invalid expressions \"(?P<a>[0-9)\": missing ]: [0-9) at character 7; expected a regular expression "
      "in the notation of RE2");
  EXPECT_EQ(
      refusal(R"(ü(?P<a>\y))"),
      "invalid expressions \"ü(?P<a>\\y)\": invalid escape sequence: \\y at character 8; expected a regular "
      "expression in the notation of RE2");
  EXPECT_EQ(refusal("total ([0-9]+)"),
            "invalid expressions \"total ([0-9]+)\": it has no group with a name: expected (?P<NAME>...) "
            "around the "
            "value, where NAME is the label");
  EXPECT_EQ(test::refusal([] { step({}); }),
            "expressions is empty: expected at least one regular expression");
}

}  // namespace
}  // namespace encore::match
