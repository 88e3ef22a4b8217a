// SPDX-License-Identifier: BSD-3-Clause
// Tests measure_values() and MeasureCells (base/measures.hpp, base/measure_cells.hpp) on three kinds of
// measures: F1 with its families and macro mean, perplexity, and a matrix of counts. Values must equal the
// formulas bit for bit, because scores are stored and compared.
#include "base/measures.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include <encore/error.hpp>

#include "base/count_matrix.hpp"
#include "base/measure_cells.hpp"

namespace encore {
namespace {

using Values = std::vector<std::pair<std::string, double>>;

const std::vector<std::string> found = {"correct", "predicted", "truth"};
const Measure f1 = {
    .name = "f1", .title = "F1", .fraction = true, .reducer = Reducer::harmonic_mean, .columns = found};
const Measure f1_of_label = {.name = "f1/{label}",
                             .title = "F1",
                             .fraction = true,
                             .reducer = Reducer::harmonic_mean,
                             .columns = found};
const Measure macro = {.name = "f1_macro", .reducer = Reducer::macro_harmonic_mean, .columns = found};
const Measure precision = {
    .name = "precision", .reducer = Reducer::ratio, .columns = {"correct", "predicted"}};
const Measure perplexity = {.name = "perplexity",
                            .better = Better::lower,
                            .reducer = Reducer::exponential,
                            .columns = {"loss", "tokens"}};
const Measure confusion = {.name = "confusion", .reducer = Reducer::matrix, .columns = {"taken"}};

/// The counts of one label in one example.
struct Found {
  const char* key;
  int correct, predicted, truth;
};

/// Adds an example with these counts, and a column "words" that no measure here reads.
void add(Statistics& statistics, const std::vector<Found>& example) {
  statistics.begin_example();
  for (const Found& one : example) {
    if (one.truth > 0) statistics.add("truth", one.truth, one.key);
    if (one.predicted > 0) statistics.add("predicted", one.predicted, one.key);
    if (one.correct > 0) statistics.add("correct", one.correct, one.key);
  }
  statistics.add("words", 13);
}

/// PER: 2 of 3 true entities found, 4 predicted. LOC: 1 true entity, not found. ORG: 1 predicted, none true.
Statistics sample() {
  Statistics statistics;
  add(statistics, {{"PER", 1, 2, 2}, {"LOC", 0, 0, 1}});
  add(statistics, {});
  add(statistics, {{"ORG", 0, 1, 0}, {"PER", 1, 2, 1}});
  return statistics;
}

/// The formula of entity F1 since its first version, 2pr / (p + r) with p and r by one division each. Other
/// forms of it round differently.
double f1_of(double correct, double predicted, double truth) {
  const double p = correct / predicted, r = correct / truth;
  return 2.0 * p * r / (p + r);
}

void expect_same_bits(double a, double b) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b)) << a << " " << b;
}

TEST(Measures, F1SumsOverKeysFirstAndHasTheBitsOfItsFormula) {
  expect_same_bits(measure_value(f1, sample()), f1_of(2, 5, 4));
  expect_same_bits(measure_value(precision, sample()), 2.0 / 5.0);
}

TEST(Measures, AFamilyHasAMemberForEachKeyInSortedOrder) {
  const std::vector<Measure> measures = {f1, f1_of_label, macro, confusion, {.name = "bleu"}};
  const Values values = measure_values(measures, sample());
  ASSERT_EQ(values.size(), 5u) << "a matrix and an opaque measure have no value here";
  EXPECT_EQ(values[0].first, "f1");
  EXPECT_EQ(values[1], (std::pair<std::string, double>("f1/LOC", 0.0)));
  EXPECT_EQ(values[2], (std::pair<std::string, double>("f1/ORG", 0.0)));
  EXPECT_EQ(values[3].first, "f1/PER");
  expect_same_bits(values[3].second, f1_of(2, 4, 3));
  expect_same_bits(values[4].second, (0.0 + 0.0 + f1_of(2, 4, 3)) / 3.0);
}

TEST(Measures, NothingToDivideByGivesZero) {
  Statistics empty;
  for (const Measure& measure : {f1, macro, precision, perplexity})
    EXPECT_EQ(measure_value(measure, empty), 0.0);
  empty.begin_example();
  for (const Measure& measure : {f1, macro, precision, perplexity})
    EXPECT_EQ(measure_value(measure, empty), 0.0);
  EXPECT_TRUE(measure_values(std::vector{f1_of_label}, empty).empty());
}

TEST(Measures, PerplexityIsTheExponentialOfTheMean) {
  Statistics statistics;
  for (const double loss : {10.5, 3.25, 8.0}) {
    statistics.begin_example();
    statistics.add("loss", loss);
    statistics.add("tokens", 4);
  }
  expect_same_bits(measure_value(perplexity, statistics), std::exp((10.5 + 3.25 + 8.0) / 12.0));
}

const Measure calibration = {.name = "calibration_error",
                             .better = Better::lower,
                             .reducer = Reducer::absolute_difference,
                             .columns = {"right", "confidence", "answers"}};

/// Adds an answer whose confidence lies in the bin `key`.
void add_answer(Statistics& statistics, const char* key, bool is_right, double confidence) {
  statistics.begin_example();
  statistics.add("right", is_right ? 1.0 : 0.0, key);
  statistics.add("confidence", confidence, key);
  statistics.add("answers", 1.0, key);
}

/// In bin 09 two of three answers are right at a mean confidence of 0.75; in bin 02 none at 0.25. The bins do
/// not cancel each other out.
TEST(Measures, TheAbsoluteDifferenceIsTakenUnderEachKey) {
  Statistics statistics;
  add_answer(statistics, "09", true, 0.75);
  add_answer(statistics, "02", false, 0.25);
  add_answer(statistics, "09", true, 0.75);
  add_answer(statistics, "09", false, 0.75);
  expect_same_bits(measure_value(calibration, statistics), (0.25 + 0.25) / 4.0);
  EXPECT_EQ(measure_value(calibration, Statistics()), 0.0);
  MeasureCells cells(calibration);
  const ExampleSums sums = cells.sums_of(statistics);
  EXPECT_EQ(cells.size(), 6u);
  std::vector<double> total(cells.size(), 0.0);
  for (const std::size_t example : {0, 0, 1})
    for (const auto& entry : sums.of(example)) total[entry.cell] += entry.value;
  expect_same_bits(cells.value(total), (0.5 + 0.25) / 3.0);
}

TEST(Measures, CellsOfSeveralSetsAddUpToThoseOfAllExamples) {
  Statistics first = sample(), second;
  add(second, {{"ALBUM", 1, 1, 1}, {"PER", 0, 1, 1}});
  Statistics both = sample();
  add(both, {{"ALBUM", 1, 1, 1}, {"PER", 0, 1, 1}});
  const std::vector<std::pair<Measure, std::string>> cases = {
      {f1, ""}, {macro, ""}, {precision, ""}, {f1_of_label, "PER"}, {f1_of_label, "ALBUM"}};
  for (const auto& [measure, key] : cases) {
    MeasureCells cells(measure, key), whole(measure, key);
    const ExampleSums a = cells.sums_of(first), b = cells.sums_of(second), c = whole.sums_of(both);
    EXPECT_EQ(a.examples(), 3u);
    EXPECT_EQ(a.of(1).size(), 0u) << "word counts do not belong to this measure";
    std::vector<double> total(cells.size(), 0.0), expected(whole.size(), 0.0);
    for (const ExampleSums* sums : {&a, &b})
      for (const auto& entry : sums->entries) total[entry.cell] += entry.value;
    for (const auto& entry : c.entries) expected[entry.cell] += entry.value;
    expect_same_bits(cells.value(total), whole.value(expected));
  }
}

TEST(Measures, AMatrixCountsPairsOfTruthAndPrediction) {
  Statistics statistics;
  statistics.begin_example();
  statistics.add("taken", 2, "PER", "PER");
  statistics.add("taken", 1, "PER", "LOC");
  statistics.begin_example();
  statistics.add("taken", 3, "PER", "PER");
  CountMatrix matrix;
  EXPECT_TRUE(matrix.empty());
  matrix.add(confusion, statistics);
  matrix.add(confusion, statistics);
  EXPECT_EQ(matrix.names(), (std::vector<std::string>{"LOC", "PER"}));
  EXPECT_EQ(matrix.counts(), (std::vector<std::vector<double>>{{0, 0}, {2, 10}}));
}

TEST(Measures, NamesOfMembersAreWrittenAndRead) {
  EXPECT_TRUE(is_family(f1_of_label));
  EXPECT_FALSE(is_family(f1));
  EXPECT_EQ(family_name(f1_of_label), "f1");
  EXPECT_EQ(member_name(f1_of_label, "creative-work"), "f1/creative-work");
  EXPECT_EQ(key_in_name(f1_of_label, "f1/creative-work"), "creative-work");
  for (const char* other : {"f1", "f1/", "f1_macro", "recall/PER"})
    EXPECT_FALSE(key_in_name(f1_of_label, other)) << other;
  EXPECT_FALSE(key_in_name(f1, "f1/PER"));
  EXPECT_EQ(title_of(f1), "F1");
  EXPECT_EQ(title_of(macro), "f1_macro");
}

std::string refusal(const Measure& measure, const std::string& key) {
  try {
    MeasureCells cells(measure, key);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Measures, AMeasureWithoutAReducerIsRejected) {
  EXPECT_EQ(refusal({.name = "bleu"}, ""),
            "bleu: cannot be computed from the statistics of examples; expected a measure with a reducer "
            "other than matrix and opaque");
  EXPECT_EQ(refusal(confusion, ""),
            "confusion: cannot be computed from the statistics of examples; expected a measure with a "
            "reducer other than matrix and opaque");
  EXPECT_EQ(refusal(f1_of_label, ""), "f1/{label}: expected one member of the family, such as f1/KEY");
  EXPECT_EQ(refusal(f1, "PER"), "f1: invalid key \"PER\": expected none, since this measure has no keys");
}

}  // namespace
}  // namespace encore
