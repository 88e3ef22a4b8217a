// SPDX-License-Identifier: BSD-3-Clause
// Tests how the step `decide` is fitted on a development set (plugins/steps/decide/fitting.hpp): which third
// of it calibrates and which part bounds the errors, what is used instead if there are few examples, and the
// remarks for the log. Equal examples must give equal bits, and a set that is too small must not give a
// promise.
#include "decide/fitting.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/steps/decide_samples.hpp"

namespace encore::decide {
namespace {

using test::refusal;

std::vector<KnownRequest> known(const Records& records) {
  std::vector<KnownRequest> known;
  for (std::size_t i = 0; i < records.size(); ++i) {
    Request request{.label = &records.texts("intent.label")[i], .scores = &records.maps("intent.scores")[i]};
    if (records.has("intent.vector")) request.vector = &records.vectors("intent.vector")[i];
    known.push_back({.request = request, .truth = &records.texts("label")[i]});
  }
  return known;
}

Settings promise(double error, const std::string& out_of_scope = "") {
  return {.step = "decide", .out_of_scope = out_of_scope, .error = error};
}

bool has_note(const Fitted& fitted, const std::string& part) {
  return std::ranges::any_of(fitted.notes,
                             [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

TEST(Fitting, AThirdOfTheExamplesCalibrates) {
  const Records records = sample_records({.count = 3000});
  std::size_t count = 0;
  for (const KnownRequest& one : known(records)) count += calibrates(one.request) ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(count), 1000.0, 80.0);
}

TEST(Fitting, TheTemperatureCoolsAnOverconfidentClassifier) {
  const Records records = sample_records({.count = 1500});
  const Fitted fitted = fit(known(records), {}, false, promise(0.2));
  EXPECT_NEAR(fitted.knowledge.temperature, 2.0, 0.3) << "the truth is drawn at half of the logits";
  EXPECT_TRUE(fitted.knowledge.answer);
  ASSERT_TRUE(fitted.knowledge.thresholds.answer);
  EXPECT_TRUE(has_note(fitted, "(promised: 20 %)"));
  EXPECT_LE(fitted.knowledge.findings.answers->bound, 0.2);
}

TEST(Fitting, TheDistanceFindsRequestsOutOfScope) {
  const Records records = sample_records({.count = 1500, .out_of_scope = 0.2, .has_vectors = true});
  const auto separation = [&](bool uses_distance) {
    const Knowledge knowledge = fit(known(records), {}, uses_distance, promise(0.2, "oos")).knowledge;
    double in = 0.0, out = 0.0, in_count = 0.0;
    for (const KnownRequest& one : known(records)) {
      const double scope = knowledge.scores_of(one.request).scope;
      (*one.truth == "oos" ? out : in) += scope;
      if (*one.truth != "oos") in_count += 1.0;
    }
    return out / (static_cast<double>(records.size()) - in_count) - in / in_count;
  };
  EXPECT_GT(separation(true), 0.9);
  EXPECT_LT(separation(false), 0.8);
}

TEST(Fitting, ClassMeansComeFromTheTrainingSetIfThereIsOne) {
  const Records dev = sample_records({.count = 900, .out_of_scope = 0.1, .has_vectors = true}),
                train = sample_records({.count = 300, .out_of_scope = 0.1, .has_vectors = true, .seed = 2});
  TrainingVectors vectors;
  for (std::size_t i = 0; i < train.size(); ++i) {
    vectors.vectors.push_back(&train.vectors("intent.vector")[i]);
    vectors.truths.push_back(&train.texts("label")[i]);
  }
  const Fitted with = fit(known(dev), vectors, true, promise(0.3, "oos")),
               without = fit(known(dev), {}, true, promise(0.3, "oos"));
  EXPECT_TRUE(has_note(with, "3 classes of the training set"));
  EXPECT_TRUE(has_note(without, "3 classes of the calibration part"));
  EXPECT_NE(with.knowledge.distance->classes.means(), without.knowledge.distance->classes.means());
}

/// The same requests in another order give other sums, but the thresholds are candidates of the same list.
TEST(Fitting, IsTheSameForTheSameOrder) {
  const Records records = sample_records({.count = 600, .out_of_scope = 0.1, .has_vectors = true});
  const auto text = [&] {
    return knowledge_text(fit(known(records), {}, true, promise(0.3, "oos")).knowledge);
  };
  EXPECT_EQ(text(), text());
}

TEST(Fitting, FewWrongAnswersLeaveTheProbabilityOfTheLabel) {
  const Records records = sample_records({.count = 300, .margin = 60.0});
  const Fitted fitted = fit(known(records), {}, false, promise(0.05));
  EXPECT_FALSE(fitted.knowledge.answer);
  EXPECT_TRUE(
      has_note(fitted, "wrong answers, and a regression needs 10: the probability of the label alone"));
  EXPECT_TRUE(fitted.knowledge.thresholds.answer);
}

TEST(Fitting, FewRequestsOutOfScopeLeaveTheProbabilityOrTheDistance) {
  const Records records = sample_records({.count = 300, .out_of_scope = 0.02, .has_vectors = true});
  const Fitted by_probability = fit(known(records), {}, false, promise(0.3, "oos"));
  EXPECT_FALSE(by_probability.knowledge.scope);
  EXPECT_TRUE(has_note(by_probability, "a low probability alone says what is out of scope"));
  const Fitted by_distance = fit(known(records), {}, true, promise(0.3, "oos"));
  EXPECT_TRUE(has_note(by_distance, "the distance alone says what is out of scope"));
  for (const KnownRequest& one : known(records)) {
    const double scope = by_distance.knowledge.scores_of(one.request).scope;
    EXPECT_TRUE(scope >= 0.0 && scope < 1.0);
  }
}

TEST(Fitting, ATooSmallSetPromisesNothingAndSaysSo) {
  const Records records = sample_records({.count = 60});
  const Fitted fitted = fit(known(records), {}, false, promise(0.05));
  EXPECT_FALSE(fitted.knowledge.thresholds.answer);
  EXPECT_TRUE(
      has_note(fitted,
               "the development set is too small, or the model too often wrong, to promise an error of "
               "5 % with 95 % confidence: "));
  EXPECT_TRUE(
      has_note(fitted, "at least 59 examples without a mistake are needed. The step answers no request"));
}

/// A classifier with one class is always certain. One example is a development set without a bound part or
/// without a calibration part.
TEST(Fitting, OneClassOrOneExampleIsEnoughToRun) {
  Records records;
  records.add("label", Records::Texts(200, "bill"));
  records.add("intent.label", Records::Texts(200, "bill"));
  records.add("intent.scores", Records::NumberMaps(200, {{"bill", 1.0}}));
  records.add("intent.vector", Records::NumberLists(200, {1.0, 2.0}));
  const Fitted fitted = fit(known(records), {}, true, promise(0.05));
  EXPECT_TRUE(has_note(fitted, "the vectors of each class are equal"));
  EXPECT_EQ(knowledge_text(knowledge_in(knowledge_text(fitted.knowledge))), knowledge_text(fitted.knowledge));
  for (std::size_t i = 0; i < 5; ++i) {
    const Records one = selected(sample_records({.has_vectors = true}), {i});
    EXPECT_FALSE(fit(known(one), {}, true, promise(0.05)).knowledge.thresholds.answer);
  }
}

TEST(Fitting, RequiresARequestInScope) {
  const Records records = sample_records({.count = 20, .out_of_scope = 1.0});
  EXPECT_EQ(refusal([&] { fit(known(records), {}, false, promise(0.05, "oos")); }),
            "step \"decide\": none of the 20 examples of the development set that it is fitted on is in "
            "scope: expected "
            "examples with a label other than \"oos\"; give more data as data.dev or raise app.fit");
  EXPECT_TRUE(has_note(fit(known(sample_records({.count = 100})), {}, false, promise(0.05, "none")),
                       "no example of the development set has the label \"none\""));
}

/// A classifier that has the class "oos" itself never gives it as an answer.
TEST(Fitting, AClassForOutOfScopeIsAFeatureAndNoAnswer) {
  Records from = sample_records({.count = 900, .out_of_scope = 0.2});
  Records::Texts labels = from.texts("intent.label");
  Records::NumberMaps scores = from.maps("intent.scores");
  test::Draws draws(5);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double own = (from.texts("label")[i] == "oos" ? 0.9 : 0.3) * draws.uniform();
    for (auto& [label, p] : scores[i]) p *= 1.0 - own;
    scores[i]["oos"] = own;
    if (own > scores[i].at(labels[i])) labels[i] = "oos";
  }
  Records records;
  records.add("label", from.texts("label"));
  records.add("intent.label", labels);
  records.add("intent.scores", scores);
  Settings settings = promise(0.3, "oos");
  settings.missed = 0.5;
  const Knowledge knowledge = fit(known(records), {}, false, settings).knowledge;
  EXPECT_EQ(knowledge.out_of_scope, "oos");
  EXPECT_EQ(knowledge.scope->weights.size(), 2u);
  EXPECT_GT(knowledge.scope->weights[1], 0.0);
  for (const KnownRequest& one : known(records))
    EXPECT_EQ(knowledge.may_answer(one.request), *one.request.label != "oos");
}

}  // namespace
}  // namespace encore::decide
