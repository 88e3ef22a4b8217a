// SPDX-License-Identifier: BSD-3-Clause
// Tests the step "decide", which answers a request, leaves it to a person or refuses it
// (plugins/steps/decide/decide.hpp): its options, what it gives, its measures, and its messages about records
// that it cannot decide on.
#include "decide/decide.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/measures.hpp"
#include "unit/steps/decide_samples.hpp"

namespace encore::decide {
namespace {

using OptionTexts = std::map<std::string, OptionValue>;
using test::refusal;

const StepContext after_intent = {.name = "decide", .before = "intent"};

Decide make(const OptionTexts& settings) {
  return {test::step_options<Decide>(settings), after_intent};
}

Decide fitted(const OptionTexts& settings, const Records& dev, const Records* train = nullptr) {
  Decide step = make(settings);
  step.fit({.train = train, .dev = dev});
  return step;
}

void expect_equal(const Records& a, const Records& b) {
  ASSERT_EQ(a.fields().size(), b.fields().size());
  for (std::size_t i = 0; i < a.fields().size(); ++i) {
    EXPECT_EQ(a.fields()[i].name, b.fields()[i].name);
    EXPECT_EQ(a.fields()[i].values, b.fields()[i].values) << a.fields()[i].name;
  }
}

const OptionTexts scoped = {{"error", 0.3}, {"missed", 0.4}, {"out_of_scope", std::string("oos")}};

TEST(Decide, ReadsTheStepBeforeOrTheOneThatIsNamed) {
  const StepFields fields = make({{"error", 0.1}}).fields();
  EXPECT_EQ(fields.reads, (std::vector<std::string>{"intent.label", "intent.scores"}));
  EXPECT_EQ(fields.truth, std::vector<std::string>{"label"});
  EXPECT_EQ(fields.gives, (std::vector<std::string>{"band", "label", "confidence", "scope"}));
  const StepFields named = make({{"error", 0.1},
                                 {"of", std::string("mood")},
                                 {"distance", std::string("on")},
                                 {"truth", std::string("tone")}})
                               .fields();
  EXPECT_EQ(named.reads, (std::vector<std::string>{"mood.label", "mood.scores", "mood.vector"}));
  EXPECT_EQ(named.truth, std::vector<std::string>{"tone"});
}

TEST(Decide, LearnsUnlessTheDistanceIsOff) {
  EXPECT_TRUE(make({{"error", 0.1}}).learns());
  EXPECT_FALSE(make({{"error", 0.1}, {"distance", std::string("off")}}).learns());
}

TEST(Decide, OptionsThatDoNotFitTogetherAreRejected) {
  const auto message = [](const OptionTexts& settings) { return refusal([&] { make(settings); }); };
  EXPECT_EQ(message({}),
            "error is missing: expected the share of wrong answers that is allowed, such as error = 0.05, or "
            "the costs "
            "cost_wrong and cost_review");
  EXPECT_EQ(message({{"error", 0.1}, {"cost_wrong", 3.0}, {"cost_review", 1.0}}),
            "cost_wrong and error exclude each other: thresholds either keep a promise or minimise a cost; "
            "remove one "
            "of them");
  EXPECT_EQ(
      message({{"cost_wrong", 3.0}}),
      "cost_wrong needs cost_review too: give the costs of a wrong answer and of a review in the same unit");
  EXPECT_EQ(
      message({{"error", 0.1}, {"missed", 0.1}}),
      "missed needs the label of requests that belong to no class: set out_of_scope, such as out_of_scope = "
      "\"oos\", or remove missed");
  EXPECT_EQ(message({{"missed", 0.1}, {"out_of_scope", std::string("oos")}}).substr(0, 16),
            "error is missing");
  EXPECT_EQ(refusal([] {
              Decide(test::step_options<Decide>({{"error", 0.1}}), {.name = "decide"});
            }),
            "no step stands before \"decide\": expected a step that gives a label and the probability of "
            "every class, "
            "such as predict; put it in front in app.steps");
}

TEST(Decide, GivesABandALabelAndALine) {
  const Records dev = sample_records({.count = 1500, .out_of_scope = 0.2, .has_vectors = true});
  Decide step = fitted(scoped, dev);
  const Records given = step.apply(dev);
  std::map<std::string, std::size_t> bands;
  for (std::size_t i = 0; i < dev.size(); ++i) {
    const std::string &band = given.texts("band")[i], &label = given.texts("label")[i],
                      &shown = given.texts("shown")[i], &answer = dev.texts("intent.label")[i];
    ++bands[band];
    EXPECT_EQ(label, band == "answer" ? answer : band == "refuse" ? "oos" : "");
    EXPECT_TRUE(shown.starts_with(band == "refuse"   ? "refuse (out of scope "
                                  : band == "answer" ? "answer " + answer + " ("
                                                     : "review " + answer + "? ("))
        << shown;
    EXPECT_TRUE(shown.ends_with(" %)")) << shown;
  }
  EXPECT_GT(bands["answer"], 300u);
  EXPECT_GT(bands["refuse"], 150u);
  EXPECT_GT(bands["review"], 0u);
}

TEST(Decide, AnswersAloneAsInABatchAndInAnyOrder) {
  const Records dev = sample_records({.count = 600, .out_of_scope = 0.2, .has_vectors = true});
  Decide step = fitted(scoped, dev);
  const Records given = step.apply(dev);
  for (std::size_t i = 0; i < 100; ++i) expect_equal(step.apply(selected(dev, {i})), selected(given, {i}));
  std::vector<std::size_t> backwards(dev.size());
  std::iota(backwards.rbegin(), backwards.rend(), std::size_t{0});
  expect_equal(step.apply(selected(dev, backwards)), selected(given, backwards));
}

TEST(Decide, ARestoredStepAnswersWithTheSameBits) {
  const Records dev = sample_records({.count = 600, .out_of_scope = 0.2, .has_vectors = true}),
                train = sample_records({.count = 200, .has_vectors = true, .seed = 2});
  Decide step = fitted(scoped, dev, &train), again = make(scoped);
  again.restore(step.knowledge());
  EXPECT_EQ(again.knowledge(), step.knowledge());
  EXPECT_FALSE(step.notes().empty());
  expect_equal(again.apply(dev), step.apply(dev));
  EXPECT_NE(refusal([&] { again.restore("nothing"); }), "");
}

double value_of(const std::map<std::string, double>& values, const std::string& name) {
  return values.contains(name) ? values.at(name) : -1.0;
}

std::map<std::string, double> measured(const Decide& step, const Records& records, const Records& given) {
  Statistics statistics;
  step.measure(records, given, statistics);
  EXPECT_EQ(statistics.examples(), records.size());
  const auto values = measure_values(Decide::measures(), statistics);
  return {values.begin(), values.end()};
}

/// Returns ten requests with their decisions: of eight in scope, six are answered, one of them wrongly, one
/// is reviewed and one is refused; of two out of scope one is answered and one is refused.
Records given_of_ten() {
  Records given;
  given.add("band", Records::Texts{"answer", "answer", "answer", "answer", "answer", "answer", "review",
                                   "refuse", "answer", "refuse"});
  given.add("confidence", Records::Numbers{0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.5, 0.5, 0.8, 0.1});
  given.add("scope", Records::Numbers{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.4, 0.7, 0.5, 0.9});
  return given;
}

Records ten_requests() {
  Records records;
  records.add("label", Records::Texts{"a", "a", "a", "a", "a", "b", "a", "a", "oos", "oos"});
  records.add("intent.label", Records::Texts(10, "a"));
  records.add("intent.scores", Records::NumberMaps(10, {{"a", 0.75}, {"b", 0.25}}));
  return records;
}

TEST(Decide, MeasuresFollowFromTheBands) {
  const Records records = ten_requests();
  const Decide step = fitted({{"error", 0.3}, {"out_of_scope", std::string("oos")}}, records);
  const auto values = measured(step, records, given_of_ten());
  EXPECT_DOUBLE_EQ(value_of(values, "accuracy"), 7.0 / 8.0);
  EXPECT_DOUBLE_EQ(value_of(values, "automation"), 0.7);
  EXPECT_DOUBLE_EQ(value_of(values, "error"), 2.0 / 7.0);
  EXPECT_DOUBLE_EQ(value_of(values, "automation_in_scope"), 6.0 / 8.0);
  EXPECT_DOUBLE_EQ(value_of(values, "review"), 0.1);
  EXPECT_DOUBLE_EQ(value_of(values, "refused"), 0.2);
  EXPECT_DOUBLE_EQ(value_of(values, "missed"), 0.5);
  EXPECT_DOUBLE_EQ(value_of(values, "out_of_scope_accepted"), 0.5);
  EXPECT_DOUBLE_EQ(value_of(values, "out_of_scope_refused"), 0.5);
  EXPECT_DOUBLE_EQ(value_of(values, "scope_auroc"), 15.0 / 16.0);
  EXPECT_DOUBLE_EQ(value_of(values, "top_coverage"), 6.0 / 8.0);
  // Bin 13 of 15: five of six are right at 0.9; bin 07: both are right at 0.5.
  EXPECT_NEAR(value_of(values, "calibration_error"), (6.0 * 0.9 - 5.0 + 2.0 - 1.0) / 8.0, 1e-15);
  EXPECT_FALSE(values.contains("cost"));
}

TEST(Decide, CostsAreMeasuredBesideTheTrivialPolicies) {
  const Records records = ten_requests();
  const Decide step = fitted({{"cost_wrong", 10.0},
                              {"cost_review", 2.0},
                              {"cost_missed", 5.0},
                              {"out_of_scope", std::string("oos")}},
                             records);
  const auto values = measured(step, records, given_of_ten());
  EXPECT_DOUBLE_EQ(value_of(values, "cost"), (10.0 + 2.0 + 5.0 + 10.0) / 10.0);
  EXPECT_DOUBLE_EQ(value_of(values, "cost_by_hand"), 2.0);
  EXPECT_DOUBLE_EQ(value_of(values, "cost_automatic"), 3.0);
}

TEST(Decide, MeasuresOfOutOfScopeNeedTheirLabel) {
  const Records records = sample_records({.count = 100});
  Decide step = fitted({{"error", 0.3}}, records);
  const auto values = measured(step, records, step.apply(records));
  for (const char* name : {"scope_auroc", "missed", "out_of_scope_accepted", "cost"})
    EXPECT_FALSE(values.contains(name)) << name;
  for (const Measure& measure : Decide::measures())
    EXPECT_EQ(column_problem(measure.reducer, measure.columns.size()), "") << measure.name;
}

TEST(Decide, RecordsThatItCannotDecideOnAreRejected) {
  const auto message = [](const Records& records, const OptionTexts& settings) {
    return refusal([&] { fitted(settings, records); });
  };
  const OptionTexts error = {{"error", 0.1}};
  Records words;
  words.add("intent.label", Records::TextLists{{"B-PER"}});
  EXPECT_EQ(message(words, error),
            "step \"decide\" cannot decide on step \"intent\": expected one label of each request "
            "(intent.label) and the "
            "probability of every class (intent.scores); use a model with one label for each text, such as "
            "that of the "
            "task classify");
  const auto with_scores = [](const std::map<std::string, double>& scores) {
    Records records;
    records.add("label", Records::Texts{"a"});
    records.add("intent.label", Records::Texts{"a"});
    records.add("intent.scores", Records::NumberMaps{scores});
    return records;
  };
  EXPECT_EQ(message(with_scores({{"a", 0.9}, {"b", 0.8}}), error),
            "record 1: the numbers in intent.scores are not probabilities of classes that exclude each "
            "other: expected a "
            "sum of 1, found 1.700000");
  EXPECT_EQ(message(with_scores({{"b", 1.0}}), error),
            "record 1: intent.scores has no probability of the label \"a\" in intent.label");
  EXPECT_EQ(message(sample_records({.count = 30}), {{"error", 0.1}, {"distance", std::string("on")}}),
            "step \"decide\" needs a vector of each text for distance = \"on\": set vectors = true in step "
            "\"intent\", "
            "or distance = \"off\" here");
  EXPECT_EQ(message(selected(sample_records({}), {}), error),
            "step \"decide\": the development set has no example to fit on: give more data as data.dev or "
            "raise app.fit");
  Decide step = fitted(error, sample_records({.count = 60, .has_vectors = true}));
  EXPECT_TRUE(refusal([&] {
                step.apply(sample_records({.count = 2}));
              }).starts_with("step \"decide\" needs a vector of each text"));
  Records narrow = sample_records({.count = 1});
  narrow.add("intent.vector", Records::NumberLists{{1.0}});
  EXPECT_EQ(refusal([&] { step.apply(narrow); }),
            "record 1: intent.vector has 1 numbers: expected 4, as in the development set of the run");
}

TEST(Decide, SaysThatATrainingSetIsReadButNotUsed) {
  const Records dev = sample_records({.count = 60}), train = sample_records({.count = 10});
  const Decide step = fitted({{"error", 0.1}}, dev, &train);
  EXPECT_EQ(step.notes().back(),
            "the training set is read but not used, because step \"intent\" gives no vectors: set vectors = "
            "true there, "
            "or distance = \"off\" here");
}

}  // namespace
}  // namespace encore::decide
