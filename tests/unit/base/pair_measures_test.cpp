// SPDX-License-Identifier: BSD-3-Clause
// Tests the measures that follow from pairs (base/pair_measures.hpp: area under the ROC curve, correlations,
// Cohen's kappa, Matthews' coefficient) against scikit-learn and SciPy, on random cases with many equal
// numbers. The cases are in scores.json, which make_scores.py writes; run the script instead of editing the
// file. The last tests cover cases without a value.
#include "base/pair_measures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include <nlohmann/json.hpp>

#include "base/measure_cells.hpp"
#include "base/measures.hpp"
#include "support/places.hpp"

namespace encore {
namespace {

using Json = nlohmann::json;
using Numbers = std::vector<double>;

const std::vector<std::string> counted = {"correct", "predicted", "truth"}, scored = {"score", "truth"},
                               paired = {"prediction", "truth"};
const Measure area = {.name = "auc", .reducer = Reducer::area_under_ranks, .columns = scored},
              area_of_label = {.name = "auc/{label}",
                               .reducer = Reducer::area_under_ranks,
                               .columns = scored},
              macro_area = {.name = "macro_auc",
                            .reducer = Reducer::macro_area_under_ranks,
                            .columns = scored},
              micro_f1 = {.name = "micro_f1", .reducer = Reducer::harmonic_mean, .columns = counted},
              macro_f1 = {.name = "macro_f1", .reducer = Reducer::macro_harmonic_mean, .columns = counted},
              spearman = {.name = "spearman", .reducer = Reducer::rank_correlation, .columns = paired},
              kappa = {.name = "kappa", .reducer = Reducer::quadratic_kappa, .columns = paired},
              pearson = {.name = "pearson", .reducer = Reducer::correlation, .columns = paired},
              mcc = {.name = "mcc", .reducer = Reducer::matthews, .columns = {"taken"}};

/// Returns the content of scores.json.
const Json& cases() {
  static const Json json = [] {
    std::ifstream in(ENCORE_SOURCE_DIR "/tests/unit/base/scores.json");
    return Json::parse(in);
  }();
  return json;
}

/// Returns the statistics of examples with two columns each.
Statistics of_pairs(const char* first, const Numbers& x, const char* second, const Numbers& y) {
  Statistics statistics;
  for (std::size_t i = 0; i < x.size(); ++i) {
    statistics.begin_example();
    statistics.add(first, x[i]);
    statistics.add(second, y[i]);
  }
  return statistics;
}

Statistics ranked(const Numbers& scores, const Numbers& truths) {
  return of_pairs("score", scores, "truth", truths);
}
Statistics correlated(const Numbers& x, const Numbers& y) {
  return of_pairs("prediction", x, "truth", y);
}

/// Returns the statistics of examples, each with a true and a predicted class.
Statistics taken(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Statistics statistics;
  for (const auto& [truth, predicted] : pairs) {
    statistics.begin_example();
    statistics.add("taken", 1, truth, predicted);
  }
  return statistics;
}

/// Returns what a task with several labels per example adds. A label counts as predicted if its score is
/// above 0.5.
Statistics labelled(const std::vector<Numbers>& truths, const std::vector<Numbers>& scores) {
  Statistics statistics;
  for (std::size_t i = 0; i < truths.size(); ++i) {
    statistics.begin_example();
    for (std::size_t k = 0; k < truths[i].size(); ++k) {
      const std::string label = std::to_string(k);
      const bool is_true = truths[i][k] > 0, is_predicted = scores[i][k] > 0.5;
      statistics.add("score", scores[i][k], label);
      if (is_true || i == 0) statistics.add("truth", is_true ? 1 : 0, label);
      if (is_predicted) statistics.add("predicted", 1, label);
      if (is_true && is_predicted) statistics.add("correct", 1, label);
    }
  }
  return statistics;
}

TEST(PairMeasures, AreasAreThoseOfScikitLearn) {
  for (const Json& one : cases().at("ranked"))
    EXPECT_NEAR(measure_value(area, ranked(one.at("score"), one.at("truth"))), one.at("area").get<double>(),
                1e-12);
}

TEST(PairMeasures, SeveralLabelsAreCountedAsByScikitLearn) {
  for (const Json& one : cases().at("labelled")) {
    const Statistics statistics = labelled(one.at("truth"), one.at("score"));
    for (const Measure& measure : {micro_f1, macro_f1, macro_area})
      EXPECT_NEAR(measure_value(measure, statistics), one.at(measure.name).get<double>(), 1e-12)
          << measure.name;
    std::map<std::string, double> by_label;
    for (const auto& [name, value] : measure_values(std::vector{area_of_label}, statistics))
      by_label[name] = value;
    EXPECT_EQ(by_label.size(), one.at("auc").size()) << "labels of one class have no area";
    for (const auto& [label, value] : one.at("auc").items())
      EXPECT_NEAR(by_label.at("auc/" + label), value.get<double>(), 1e-12) << label;
  }
}

TEST(PairMeasures, CorrelationsAreThoseOfScipy) {
  for (const Json& one : cases().at("correlated")) {
    const Statistics statistics = correlated(one.at("prediction"), one.at("truth"));
    EXPECT_NEAR(measure_value(spearman, statistics), one.at("spearman").get<double>(), 1e-12);
    EXPECT_NEAR(measure_value(pearson, statistics), one.at("pearson").get<double>(), 1e-12);
  }
}

TEST(PairMeasures, QuadraticKappaIsThatOfScikitLearn) {
  for (const Json& one : cases().at("levels"))
    EXPECT_NEAR(measure_value(kappa, correlated(one.at("prediction"), one.at("truth"))),
                one.at("kappa").get<double>(), 1e-12);
  EXPECT_EQ(measure_value(kappa, correlated({2, 2}, {2, 2})), 0.0) << "one level gives no value";
  EXPECT_EQ(measure_value(kappa, correlated({1, 2, 3}, {1, 2, 3})), 1.0);
  EXPECT_TRUE(std::isnan(measure_value(kappa, correlated({NAN, 1}, {1, 2}))));
}

TEST(PairMeasures, MatthewsCoefficientIsThatOfScikitLearn) {
  for (const Json& one : cases().at("classified")) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (std::size_t i = 0; i < one.at("truth").size(); ++i)
      pairs.emplace_back(one.at("truth")[i].dump(), one.at("predicted")[i].dump());
    EXPECT_NEAR(measure_value(mcc, taken(pairs)), one.at("mcc").get<double>(), 1e-12);
  }
}

TEST(PairMeasures, EqualScoresCountHalf) {
  EXPECT_DOUBLE_EQ(measure_value(area, ranked({0.5, 0.5, 0.5}, {1, 0, 1})), 0.5);
  EXPECT_DOUBLE_EQ(measure_value(area, ranked({0.9, 0.5, 0.5, 0.1}, {1, 1, 0, 0})), 3.5 / 4.0);
  EXPECT_DOUBLE_EQ(measure_value(area, ranked({0.1, 0.9}, {1, 0})), 0.0);
  EXPECT_DOUBLE_EQ(measure_value(area, ranked({0.0, -0.0}, {1, 0})), 0.5) << "two zeros are equal";
}

TEST(PairMeasures, UndefinedValuesAreZeroAndNotMembersOfAFamily) {
  EXPECT_EQ(measure_value(area, Statistics()), 0.0);
  EXPECT_EQ(measure_value(area, ranked({0.2, 0.7}, {1, 1})), 0.0) << "one class only";
  EXPECT_EQ(measure_value(macro_area, labelled({{1, 0}, {1, 0}}, {{0.3, 0.4}, {0.5, 0.6}})), 0.0);
  EXPECT_TRUE(measure_values(std::vector{area_of_label}, labelled({{1}, {1}}, {{0.3}, {0.5}})).empty());
  EXPECT_EQ(measure_value(spearman, correlated({0.1, 0.1, 0.1}, {1, 2, 3})), 0.0) << "a constant side";
  EXPECT_EQ(measure_value(pearson, correlated({1, 2, 3}, {0.1, 0.1, 0.1})), 0.0);
  EXPECT_EQ(measure_value(pearson, correlated({1}, {2})), 0.0);
  EXPECT_EQ(measure_value(mcc, taken({{"a", "a"}, {"a", "a"}})), 0.0) << "one class only";
  EXPECT_EQ(measure_value(mcc, Statistics()), 0.0);
}

TEST(PairMeasures, ANaNGivesNaN) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(measure_value(area, ranked({0.2, nan, 0.7}, {0, 1, 1}))));
  EXPECT_TRUE(std::isnan(measure_value(spearman, correlated({1, nan, 3}, {1, 2, 3}))));
  EXPECT_TRUE(std::isnan(measure_value(pearson, correlated({1, 2, 3}, {1, nan, 3}))));
}

TEST(PairMeasures, ATruthWithoutAScoreMakesNoPair) {
  Statistics statistics = ranked({0.2, 0.7}, {0, 1});
  statistics.begin_example();
  statistics.add("truth", 1, "a label that the model does not know");
  EXPECT_DOUBLE_EQ(measure_value(area, statistics), 1.0);
}

/// Selects examples as the tests that resample do: any selection, and each example any number of times.
TEST(PairMeasures, SelectionsOfExamplesHaveTheValueOfWhatWasSelected) {
  const Json& one = cases().at("labelled").back();
  const std::vector<Numbers> truths = one.at("truth"), scores = one.at("score");
  const auto half = [](const std::vector<Numbers>& all, std::size_t begin) {
    return std::vector<Numbers>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                all.begin() + static_cast<std::ptrdiff_t>(begin + 30));
  };
  MeasureCells cells(macro_area);
  const ExampleSums first = cells.sums_of(labelled(half(truths, 0), half(scores, 0))),
                    second = cells.sums_of(labelled(half(truths, 30), half(scores, 30)));
  Numbers total(cells.size(), 0.0), doubled(cells.size(), 0.0);
  for (const ExampleSums* sums : {&first, &second})
    for (const auto& entry : sums->entries) {
      total[entry.cell] += entry.value;
      doubled[entry.cell] += 2.0 * entry.value;
    }
  EXPECT_NEAR(cells.value(total), one.at("macro_auc").get<double>(), 1e-12);
  EXPECT_NEAR(cells.value(doubled), one.at("macro_auc").get<double>(), 1e-12);
  Numbers alone(cells.size(), 0.0);
  for (const auto& entry : second.entries) alone[entry.cell] += entry.value;
  EXPECT_NEAR(cells.value(alone), measure_value(macro_area, labelled(half(truths, 30), half(scores, 30))),
              1e-12);
}

}  // namespace
}  // namespace encore
