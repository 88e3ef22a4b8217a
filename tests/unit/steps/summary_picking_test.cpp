// SPDX-License-Identifier: BSD-3-Clause
// Tests how summaries are made of sentences (plugins/steps/summary): where a text is cut, how sentences are
// scored and taken within the limits, the regression of the method learned, and the choice of a method.
// Vectors and scores are computed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "summary/picking.hpp"
#include "summary/ranker_choice.hpp"
#include "summary/ridge.hpp"
#include "summary/text_parts.hpp"
#include "unit/steps/samples.hpp"

namespace encore::summary {
namespace {

using Names = std::vector<std::string>;
using Parts = std::vector<std::string_view>;
using Numbers = std::vector<std::size_t>;

// --- parts of a text ---

TEST(TextParts, AreSentences) {
  const std::string text = " Hi Bo,\nis it \"two?\" Yes! It is 1.5 (or so.) e.g. now\r\n\n Bye…Last。 ";
  EXPECT_EQ(sentences_of(text, LineEnd::ends_sentence),
            (Parts{"Hi Bo,", "is it \"two?\"", "Yes!", "It is 1.5 (or so.) e.g. now", "Bye…Last。"}))
      << "a small letter does not begin a sentence";
  EXPECT_EQ(sentences_of(text, LineEnd::is_space),
            (Parts{"Hi Bo,\nis it \"two?\"", "Yes!", "It is 1.5 (or so.) e.g. now", "Bye…Last。"}))
      << "only an empty line ends a sentence of wrapped lines";
  for (const char* blank : {"", " \n\t\r\n "}) {
    EXPECT_TRUE(sentences_of(blank, LineEnd::ends_sentence).empty());
    EXPECT_TRUE(lines_of(blank).empty());
  }
  EXPECT_EQ(sentences_of("no end", LineEnd::ends_sentence), Parts{"no end"});
}

TEST(TextParts, AreLines) {
  EXPECT_EQ(lines_of("A: Hi. You?\n\n  B: Fine.  \r\nA: So"), (Parts{"A: Hi. You?", "B: Fine.", "A: So"}));
}

TEST(TextParts, AreCountedInWords) {
  EXPECT_EQ(count_words(""), 0U);
  EXPECT_EQ(count_words(" one\ttwo \n three"), 3U);
}

// --- scores and limits ---

/// Three parts about one thing, of which the first two are nearly equal, and one about another thing.
Document document() {
  return make_document({"a b c", "a b", "d", "a b c e"}, {{3.0, 0.0}, {0.99, 0.1}, {0.0, 5.0}, {0.8, 0.6}});
}

Numbers picked(const Ranker& ranker, const Limits& limits) {
  return pick(document(), scores_of(document(), ranker), ranker, limits);
}

TEST(Picking, MakesADocument) {
  const Document made = document();
  for (const Part& part : made.parts) EXPECT_NEAR(std::hypot(part.vector[0], part.vector[1]), 1.0, 1e-12);
  EXPECT_EQ(made.parts[3].words, 4U);
  // The centroid points to (2.794937, 1.700499); its cosine with (0.8, 0.6) is the largest one.
  EXPECT_NEAR(made.likeness[0], 0.854303, 1e-6);
  EXPECT_NEAR(made.likeness[2], 0.519776, 1e-6);
  EXPECT_NEAR(made.likeness[3], 0.995308, 1e-6);
  const Document repeated = make_document({"a", "b", "a", "b", "c"}, {{1.0}, {1.0}, {2.0}, {3.0}, {-1.0}});
  ASSERT_EQ(repeated.parts.size(), 3U) << "a repeated part is left out";
  EXPECT_EQ(repeated.parts[2].text, "c");
  EXPECT_EQ(repeated.likeness, (std::vector<double>{1.0, 1.0, -1.0}));
  EXPECT_TRUE(make_document({}).parts.empty());
  EXPECT_EQ(make_document({"x"}, {{0.0, 0.0}}).likeness, std::vector<double>{0.0});
}

TEST(Picking, TakesTheFirstOrTheLongest) {
  EXPECT_EQ(picked({.method = Method::lead}, {.parts = 2}), (Numbers{0, 1}));
  EXPECT_EQ(picked({.method = Method::longest}, {.parts = 2}), (Numbers{0, 3})) << "in the order of the text";
  EXPECT_EQ(picked({.method = Method::lead}, {.parts = 9}), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(picked({.method = Method::lead}, {.parts = 9, .words = 4}), Numbers{0})
      << "lead ends where a part does not fit";
  EXPECT_EQ(picked({.method = Method::longest}, {.parts = 9, .words = 5}), (Numbers{2, 3}))
      << "the others pass over a part that does not fit";
  EXPECT_EQ(picked({.method = Method::longest}, {.parts = 9, .words = 1}), Numbers{3})
      << "one part is always taken";
}

TEST(Picking, TakesPartsNearTheCentroid) {
  EXPECT_EQ(picked({.method = Method::centroid}, {.parts = 1}), Numbers{3});
  EXPECT_EQ(picked({.method = Method::centroid}, {.parts = 2}), (Numbers{1, 3}));
  EXPECT_EQ(picked({.method = Method::mmr}, {.parts = 2}), (Numbers{1, 3}));
}

TEST(Picking, WeighsPlaceAndDiversity) {
  EXPECT_EQ(picked({.method = Method::mmr, .position = 1.0}, {.parts = 2}), (Numbers{0, 1}));
  // Behind part 3, which has the cosines 0.8, 0.856 and 0.6 with parts 0 to 2: 0.5 * likeness - 0.5 * cosine
  // is 0.027, 0.023 and -0.040; with the weight 0.9 of diversity, part 2 is the best.
  EXPECT_EQ(picked({.method = Method::mmr, .diversity = 0.5}, {.parts = 2}), (Numbers{0, 3}));
  EXPECT_EQ(picked({.method = Method::mmr, .diversity = 0.9}, {.parts = 2}), (Numbers{2, 3}));
  EXPECT_EQ(picked({.method = Method::centroid, .diversity = 0.9}, {.parts = 2}), (Numbers{1, 3}))
      << "diversity is of mmr";
}

TEST(Picking, KnowsItsMethods) {
  for (const Method method :
       {Method::lead, Method::longest, Method::centroid, Method::mmr, Method::learned}) {
    EXPECT_EQ(method_named(name_of(method)), method);
    EXPECT_EQ(uses_vectors(method), method != Method::lead && method != Method::longest);
  }
  EXPECT_FALSE(method_named("auto"));
}

// --- what is learned ---

TEST(Ridge, FindsALine) {
  std::vector<std::vector<double>> rows;
  std::vector<double> values;
  for (int i = 0; i < 50; ++i) {
    rows.push_back({1.0 * i, 5.0, 1.0 * (i % 7)});
    values.push_back(2.0 * i - 3.0 * (i % 7) + 4.0);
  }
  const std::vector<double> weights = fit_ridge(rows, values, 1e-9);
  ASSERT_EQ(weights.size(), 4U);
  EXPECT_NEAR(weights[0], 2.0, 1e-6);
  EXPECT_EQ(weights[1], 0.0) << "of a feature that does not vary";
  EXPECT_NEAR(weights[2], -3.0, 1e-6);
  EXPECT_NEAR(weights[3], 4.0, 1e-5);
  // numpy: with the penalty 50, equal to the number of rows, a single scaled feature keeps half of its
  // weight.
  std::vector<std::vector<double>> single;
  for (int i = 0; i < 50; ++i) single.push_back({1.0 * i});
  std::vector<double> line;
  for (int i = 0; i < 50; ++i) line.push_back(2.0 * i);
  const std::vector<double> halved = fit_ridge(single, line, 50.0);
  EXPECT_NEAR(halved[0], 1.0, 1e-12);
  EXPECT_NEAR(halved[1], 24.5, 1e-12) << "the constant has no penalty";
}

/// Returns documents whose summary is the part number `best(i)` of six; vectors say nothing.
template <class Best>
std::vector<JudgedDocument> judged(std::size_t count, const Best& best) {
  test::Draws draws(7);
  std::vector<JudgedDocument> documents;
  for (std::size_t i = 0; i < count; ++i) {
    Names parts;
    std::vector<std::vector<double>> vectors;
    for (int part = 0; part < 6; ++part) {
      const std::string number = std::to_string(10 * i + static_cast<std::size_t>(part));
      parts.push_back("w" + number + " x" + number + (part == 4 ? " long long long long" : ""));
      vectors.push_back({draws.uniform(), draws.uniform(), draws.uniform()});
    }
    documents.push_back(
        {.document = make_document(parts, std::move(vectors)), .references = {parts[best(i)]}});
  }
  return documents;
}

TEST(RankerChoice, StaysWithTheFirstSentence) {
  const RankerChoice choice = choose_ranker(judged(40, [](std::size_t) { return 0; }), {.parts = 1}, 1);
  EXPECT_EQ(choice.ranker.method, Method::lead) << "no method is better than a perfect one";
  ASSERT_EQ(choice.notes.size(), 2U);
  EXPECT_TRUE(choice.notes[0].starts_with("ROUGE-L on 40 documents: lead 100.00, longest 0.00"))
      << choice.notes[0];
}

TEST(RankerChoice, LearnsAPlace) {
  // The second part is the summary: only the regression can express that.
  const std::vector<JudgedDocument> documents = judged(40, [](std::size_t) { return 1; });
  const RankerChoice choice = choose_ranker(documents, {.parts = 1}, 1);
  EXPECT_EQ(choice.ranker.method, Method::learned) << choice.notes[1];
  EXPECT_EQ(choice.ranker.weights, fit_weights(documents));
  for (const JudgedDocument& each : documents)
    EXPECT_EQ(pick(each.document, scores_of(each.document, choice.ranker), choice.ranker, {.parts = 1}),
              Numbers{1});
  EXPECT_NE(choice.notes[1].find("learned gains +100.00 over"), std::string::npos) << choice.notes[1];
}

TEST(RankerChoice, NeedsEnoughDocuments) {
  const RankerChoice choice = choose_ranker(judged(10, [](std::size_t) { return 1; }), {.parts = 1}, 1);
  EXPECT_EQ(choice.ranker.method, Method::lead) << "10 documents show no difference beyond chance";
  EXPECT_EQ(choose_ranker(judged(1, [](std::size_t) { return 4; }), {.parts = 1}, 1).ranker.method,
            Method::longest);
}

TEST(RankerChoice, TakesTheCentroidWhereItHelps) {
  std::vector<JudgedDocument> documents = judged(60, [](std::size_t) { return 0; });
  for (std::size_t i = 0; i < documents.size(); ++i) {
    Names parts;
    std::vector<std::vector<double>> vectors;
    const std::size_t best = 1 + (i * 7) % 5;
    for (std::size_t part = 0; part < 6; ++part) {
      parts.push_back("p" + std::to_string(i) + "q" + std::to_string(part));
      std::vector<double> vector(8, 0.0);
      vector[part] = 1.0;
      vector[7] = part == best ? 3.0 : 0.5;
      vectors.push_back(vector);
    }
    documents[i] = {.document = make_document(parts, vectors), .references = {parts[best], "nothing"}};
  }
  const RankerChoice choice = choose_ranker(documents, {.parts = 1}, 1);
  EXPECT_TRUE(uses_vectors(choice.ranker.method)) << choice.notes[1];
  EXPECT_NE(choice.notes[0].find("centroid 100.00"), std::string::npos) << choice.notes[0];
}

}  // namespace
}  // namespace encore::summary
