// SPDX-License-Identifier: BSD-3-Clause
// Tests the probabilities of answers (Task::scored_answer), which `exp predict --scores` and `exp serve`
// show: for each task, against softmax in long double, and the message of a task or head that has no
// probabilities. plugins/tasks/label_scores.hpp has the shared code. The numbers must equal those of the
// formula; the message may change.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include <encore/class_probabilities.hpp>
#include <encore/testing.hpp>

#include "classify/classify.hpp"
#include "data/encode.hpp"
#include "multilabel/multilabel.hpp"
#include "ner/ner.hpp"
#include "qa/qa.hpp"
#include "regress/regress.hpp"
#include "relation/relation.hpp"
#include "support/example_sets.hpp"
#include "tag/tag.hpp"
#include "unit/record/temporary_folder.hpp"
#include "wordpiece.hpp"

namespace encore::scores {
namespace {

using Floats = std::vector<float>;
using Texts = std::vector<std::string>;
using Classes = std::vector<std::int32_t>;

wordpiece::WordPiece letter_tokenizer() {
  wordpiece::WordPiece tokenizer(options_with<wordpiece::WordPiece>("vocab", std::string("none")), {});
  tokenizer.load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##b", "c", "$", "#"});
  return tokenizer;
}

template <class T>
T task_that_knows(const std::string& knowledge) {
  T task(default_options<T>(), {16});
  task.restore(knowledge);
  return task;
}

/// Inputs of a user, and the outputs of the head for them.
struct Asked {
  Asked(const Task& asked_task, const Texts& lines)
      : task(asked_task),
        records(task.from_text(lines)),
        set(data::encode_records(task, records, letter_tokenizer(), 16)) {}

  void add(OutputRule rule, const Floats& numbers) {
    rule.truth.clear();
    outputs.all().push_back({std::move(rule), {}, numbers});
  }
  void add(OutputRule rule, const Classes& integers) {
    outputs.all().push_back({std::move(rule), integers, {}});
  }
  Records scored() const { return task.scored_answer(records, set, outputs); }

  const Task& task;
  Records records;
  ExampleSet set;
  Outputs outputs;
};

OutputRule numbers_rule(const char* name, Space space, std::int64_t width) {
  return {.name = name, .space = space, .type = ColumnType::numbers, .width = width};
}

/// Returns softmax(logits), computed in long double.
std::vector<double> shares_of(const std::vector<double>& logits) {
  long double sum = 0.0L;
  for (const double logit : logits) sum += std::exp(static_cast<long double>(logit));
  std::vector<double> shares;
  for (const double logit : logits)
    shares.push_back(static_cast<double>(std::exp(static_cast<long double>(logit)) / sum));
  return shares;
}

TEST(ClassProbabilities, AreTheSoftmaxOfLogits) {
  const Floats logits = {-3.5F, 0.25F, 7.0F, 2.0F};
  const std::vector<double> found = softmax(logits), expected = shares_of({-3.5, 0.25, 7.0, 2.0});
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], 1e-15);
  EXPECT_EQ(softmax(Floats{1000.0F, 1000.0F}), (std::vector<double>{0.5, 0.5})) << "no overflow";
  EXPECT_EQ(softmax(Floats{-1000.0F, 1000.0F}), (std::vector<double>{0.0, 1.0}));
  EXPECT_EQ(softmax(Floats{std::numeric_limits<float>::quiet_NaN(), 1.0F}), (std::vector<double>{0.5, 0.5}));
}

TEST(ClassProbabilities, NameTheMissingOutputOfAHead) {
  const std::string none = "the head gives neither \"logits\" nor \"marginals\" of its classes";
  const std::vector<OutputRule> both = {{.name = classes_output}, numbers_rule("logits", Space::tokens, 3)};
  EXPECT_EQ(ClassProbabilities::missing(both, Space::tokens, 3), "");
  EXPECT_EQ(ClassProbabilities::missing(both, Space::tokens, 4), none) << "of other classes";
  EXPECT_EQ(ClassProbabilities::missing(both, Space::sequences, 3), none) << "over another space";
  EXPECT_EQ(ClassProbabilities::missing({both.data(), 1}, Space::tokens, 3), none);
  EXPECT_EQ(testing::message_of<Error>([] { ClassProbabilities{Outputs()}; }), none);
}

TEST(Scores, OfATextHaveEveryLabel) {
  const auto task = task_that_knows<classify::Classify>("bad\ngood\nodd\n");
  Asked asked(task, {"ab c", "a"});
  asked.add(task.outputs().front(), Classes{1, 2});
  asked.add(numbers_rule("logits", Space::sequences, 3), Floats{0.5F, 2.0F, -1.0F, 1.0F, 1.0F, 1.5F});
  const Records scored = asked.scored();
  const std::vector<double> first = shares_of({0.5, 2.0, -1.0}), second = shares_of({1.0, 1.0, 1.5});
  EXPECT_NEAR(scored.numbers("score").at(0), first[1], 1e-12);
  EXPECT_NEAR(scored.numbers("score").at(1), second[2], 1e-12);
  EXPECT_NEAR(scored.maps("scores").at(0).at("bad"), first[0], 1e-12);
  EXPECT_NEAR(scored.maps("scores").at(0).at("odd"), first[2], 1e-12);
  EXPECT_EQ(scored.maps("scores").at(1).size(), 3U);
  EXPECT_EQ(scored.texts("shown"), (Texts{"good 0.786\tab c", "odd 0.452\ta"}));
  EXPECT_EQ(task.no_scores(std::vector{numbers_rule("logits", Space::sequences, 3)}), "");
  EXPECT_NE(task.no_scores(task.outputs()), "");
}

TEST(Scores, OfARelationAreThoseOfEveryLabel) {
  const auto task = task_that_knows<relation::Relation>("no\nyes\n");
  Asked asked(task, {"<e1>a</e1> c <e2>ab</e2>"});
  asked.add(task.outputs().front(), Classes{1});
  asked.add(numbers_rule("logits", Space::sequences, 2), Floats{0.0F, 3.0F});
  const Records scored = asked.scored();
  EXPECT_NEAR(scored.numbers("score").at(0), shares_of({0.0, 3.0})[1], 1e-12);
  EXPECT_EQ(scored.texts("shown"), Texts{"yes 0.953\t<e1>a</e1> c <e2>ab</e2>"});
}

TEST(Scores, OfSeveralLabelsStandEachByItself) {
  const auto task = task_that_knows<multilabel::Multilabel>("joy\nlove\nrage\n");
  Asked asked(task, {"a c", "a"});
  asked.add(task.outputs().front(), Floats{0.914F, 0.2F, 0.6F, 0.1F, 0.2F, 0.3F});
  const Records scored = asked.scored();
  EXPECT_EQ(scored.lists("labels"), (Records::TextLists{{"joy", "rage"}, {}}));
  EXPECT_EQ(scored.vectors("score"), (Records::NumberLists{{double{0.914F}, double{0.6F}}, {}}));
  EXPECT_EQ(scored.maps("scores").at(0),
            (std::map<std::string, double>{{"joy", 0.914F}, {"love", 0.2F}, {"rage", 0.6F}}));
}

/// Rows of the two lines: [CLS] a c ##b . [SEP], [CLS] [SEP]; labelled are those of a, c and ".".
TEST(Scores, OfWordsAreThoseOfTheirFirstTokens) {
  const auto task = task_that_knows<tag::Tag>("ADJ\nNOUN\n");
  for (const char* name : {"logits", "marginals"}) {
    Asked asked(task, {"a cb.", ""});
    asked.add(task.outputs().front(), Classes{9, 0, 1, 9, 1, 9, 9, 9});
    const bool shares = std::string(name) == "marginals";
    asked.add(numbers_rule(name, Space::tokens, 2),
              shares ? Floats{0, 0, 0.75F, 0.25F, 0.125F, 0.875F, 0, 0, 0.5F, 0.5F, 0, 0, 0, 0, 0, 0}
                     : Floats{7, 7, 2, 1, 0, 3, 7, 7, 1, 1, 7, 7, 7, 7, 7, 7});
    const Records scored = asked.scored();
    ASSERT_EQ(scored.vectors("score").at(0).size(), 3U);
    EXPECT_NEAR(scored.vectors("score").at(0)[0], shares ? 0.75 : shares_of({2, 1})[0], 1e-12);
    EXPECT_NEAR(scored.vectors("score").at(0)[1], shares ? 0.875 : shares_of({0, 3})[1], 1e-12);
    EXPECT_NEAR(scored.map_lists("scores").at(0)[2].at("ADJ"), 0.5, 1e-12);
    EXPECT_TRUE(scored.vectors("score").at(1).empty());
    EXPECT_EQ(scored.texts("shown").at(0),
              shares ? "a/ADJ/0.750 cb/NOUN/0.875 ./NOUN/0.500" : "a/ADJ/0.731 cb/NOUN/0.953 ./NOUN/0.500");
  }
}

TEST(Scores, OfWordsThatWereCutAreMissing) {
  tag::Tag task(default_options<tag::Tag>(), {4});
  task.restore("ADJ\nNOUN\n");
  const Texts lines = {"a a a"};
  const Records records = task.from_text(lines);
  const ExampleSet set = data::encode_records(task, records, letter_tokenizer(), 4);
  Outputs outputs = outputs_of(set, task.outputs().front(), {0, 0, 1, 0});
  outputs.all().push_back({numbers_rule("logits", Space::tokens, 2), {}, {0, 0, 0, 0, 0, 0, 0, 0}});
  const Records scored = task.scored_answer(records, set, outputs);
  EXPECT_EQ(scored.vectors("score").at(0), (std::vector<double>{0.5, 0.5, 0.0}));
  EXPECT_TRUE(scored.map_lists("scores").at(0)[2].empty());
}

TEST(Scores, OfWordsWithoutATextNameTheJoinedWords) {
  tag::Tag task(default_options<tag::Tag>(), {16});
  task.restore("ADJ\nNOUN\n");
  Records records;
  records.add("words", Records::TextLists{{"a", "c."}, {}});
  const ExampleSet set = data::encode_records(task, records, letter_tokenizer(), 16);
  const std::size_t rows = 2 + 3 + 2;  // [CLS] a c . [SEP], [CLS] [SEP]
  Outputs outputs = outputs_of(set, task.outputs().front(), std::vector<std::int32_t>(rows, 0));
  outputs.all().push_back({numbers_rule("logits", Space::tokens, 2), {}, std::vector<float>(2 * rows, 0.0F)});
  EXPECT_EQ(task.scored_answer(records, set, outputs).texts("text"), (Texts{"a c.", ""}));
  EXPECT_EQ(task.answer(records, set, outputs).texts("text"), (Texts{"a c.", ""}));
}

TEST(Scores, OfAnEntityAreTheMeanAndTheLeastOfItsWords) {
  const auto task = task_that_knows<ner::Ner>("O\nB-X\nI-X\n");
  Asked asked(task, {"ab c.", ""});
  asked.add(task.outputs().front(), Classes{0, 1, 9, 2, 0, 0, 0, 0});
  Floats marginals(8 * 3, 0.0F);
  const auto set_row = [&](std::size_t row, Floats shares) {
    std::ranges::copy(shares, marginals.begin() + static_cast<std::ptrdiff_t>(3 * row));
  };
  set_row(1, {0.25F, 0.75F, 0.0F});
  set_row(3, {0.0F, 0.5F, 0.5F});
  set_row(4, {1.0F, 0.0F, 0.0F});
  asked.add(numbers_rule("marginals", Space::tokens, 3), marginals);
  const Records scored = asked.scored();
  const TextSpan& entity = scored.spans("entities").at(0).at(0);
  EXPECT_EQ(entity.text, "ab c");
  EXPECT_NEAR(entity.score.value(), 0.625, 1e-12);
  EXPECT_NEAR(entity.least_score.value(), 0.5, 1e-12);
  EXPECT_EQ(scored.texts("shown"), (Texts{"[ab c X 0.625] .", ""}));
  EXPECT_EQ(task.answer(asked.records, asked.set, asked.outputs).spans("entities").at(0).at(0).score,
            std::nullopt);
}

/// Returns the expected probability of the best answer, or of no answer: sums over every part of the context,
/// by its place.
double share_by_hand(const Floats& scores, std::size_t rows, std::size_t windows, std::size_t first_row,
                     std::size_t tokens, std::size_t stride, std::optional<double> none,
                     bool of_none = false) {
  std::map<std::pair<std::size_t, std::size_t>, double> best;  // by place in the context
  for (std::size_t w = 0; w < windows; ++w)
    for (std::size_t first = 0; first < tokens; ++first)
      for (std::size_t last = first; last < tokens; ++last) {
        const double score = double{scores[2 * (w * rows + first_row + first)]} +
                             double{scores[2 * (w * rows + first_row + last) + 1]};
        const std::pair place(w * (tokens - stride) + first, w * (tokens - stride) + last);
        const auto found = best.emplace(place, score);
        found.first->second = std::max(found.first->second, score);
      }
  double sum = none ? std::exp(*none) : 0.0, most = -1e9;
  for (const auto& [place, score] : best) {
    sum += std::exp(score);
    most = std::max(most, score);
  }
  return std::exp(of_none ? *none : most) / sum;
}

TEST(Scores, OfAnAnswerAreItsShareAmongAllThatCouldBeGiven) {
  for (const bool no_answer : {false, true}) {
    Options options = default_options<qa::Qa>();
    options.set("stride", std::int64_t{1});
    options.set("max_question", std::int64_t{3});
    options.set("no_answer", no_answer);
    qa::Qa task(options, {9});
    task.restore("questions about contexts\n");
    // [CLS] a [UNK] [SEP] and four tokens, three windows of ten tokens that share one
    const Texts lines = {"a ?\ta c a c c c a c a c"};
    const Records records = task.from_text(lines);
    const ExampleSet set = data::encode_records(task, records, letter_tokenizer(), 9);
    ASSERT_EQ(set.sequence_count(), 3U);
    Outputs outputs(set, task.outputs());
    Floats& numbers = outputs.all().front().numbers;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<float>((i * 7919) % 31) / 8.0F - 2.0F;
    for (std::size_t w = 0; w < 3; ++w) numbers[2 * 9 * w] = numbers[2 * 9 * w + 1] = -0.5F - 0.1F * float(w);
    const double null = 2.0 * double{numbers[2 * 9 * 2]};  // the least of the windows
    const Records scored = task.scored_answer(records, set, outputs);
    const double expected =
        share_by_hand(numbers, 9, 3, 4, 4, 1, no_answer ? std::optional(null) : std::nullopt);
    EXPECT_NEAR(scored.numbers("score").at(0), expected, 1e-12) << no_answer;
    EXPECT_NEAR(scored.spans("answers").at(0).at(0).score.value(), expected, 1e-12);
    if (!no_answer) continue;
    task.use("-100 no_answer_threshold\n");
    const Records none = task.scored_answer(records, set, outputs);
    EXPECT_TRUE(none.spans("answers").at(0).empty());
    EXPECT_NEAR(none.numbers("score").at(0), share_by_hand(numbers, 9, 3, 4, 4, 1, null, true), 1e-12);
    EXPECT_TRUE(none.texts("shown").at(0).starts_with("(no answer) 0.")) << none.texts("shown").at(0);
  }
}

TEST(Scores, ATaskWithoutProbabilitiesGivesTheReason) {
  const regress::Regress task(default_options<regress::Regress>(), {16});
  EXPECT_EQ(task.no_scores({}), "it predicts numbers, and only classes have probabilities");
  EXPECT_THROW(task.scored_answer({}, ExampleSet(), {}), Error);
}

}  // namespace
}  // namespace encore::scores
