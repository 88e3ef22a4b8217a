// SPDX-License-Identifier: BSD-3-Clause
// Tests how stored predictions become the statistics of examples (analysis/predictions.hpp), and the
// permutation test on them (analysis/example_scores.hpp), with F1 and with perplexity: a fraction and a
// measure that is not a fraction. `exp compare` uses both. The JSON in the tests is the stored format of
// predictions/test.jsonl; the form without "statistics" was written before version 5 of the schema and must
// stay readable.
#include "analysis/example_scores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include <encore/error.hpp>

#include "analysis/predictions.hpp"
#include "base/count_matrix.hpp"
#include "store/legacy_metrics.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::testing {
namespace {

/// Writes a file of predictions into the folder and returns its path.
std::filesystem::path write(const TemporaryFolder& folder, const std::string& text) {
  const std::filesystem::path file = folder / "test.jsonl";
  std::ofstream(file) << text;
  return file;
}

const Measure f1 = {.name = "f1",
                    .fraction = true,
                    .reducer = Reducer::harmonic_mean,
                    .columns = {"correct", "predicted", "truth"}};
const Measure perplexity = {.name = "perplexity",
                            .better = Better::lower,
                            .reducer = Reducer::exponential,
                            .columns = {"loss", "tokens"}};

TEST(ExampleScores, StatisticsOfEachExampleAddUpToTheMeasure) {
  const TemporaryFolder folder;
  const auto file = write(
      folder, R"({"example": 0, "text": "a b", "predicted": "c", "statistics": {"loss": 1.5, "tokens": 2}}
{"example": 1, "text": "d", "predicted": "e", "statistics": {"loss": 0.5, "tokens": 1}}
)");
  const analysis::PredictedStatistics read = analysis::read_statistics(file);
  EXPECT_FALSE(read.is_old);
  EXPECT_EQ(measure_value(perplexity, read.statistics), std::exp(2.0 / 3.0));
}

TEST(ExampleScores, PredictionsWithoutStatisticsAreCountedFromTheirLabels) {
  const TemporaryFolder folder;
  const auto file = write(folder, R"({"truth": ["B-PER", "O", "B-LOC"], "predicted": ["B-PER", "O", "O"]}
{"truth": ["B-LOC", "I-LOC"], "predicted": ["B-LOC", "B-LOC"]}
{"truth": ["O", "O"], "predicted": ["O"]}
)");
  const analysis::PredictedStatistics read = analysis::read_statistics(file);
  EXPECT_TRUE(read.is_old);
  ASSERT_EQ(read.statistics.examples(), 3u);
  const auto value = [&](const char* metric) {
    const Metric known{.name = metric, .meaning = store::legacy_meaning(metric)};
    MeasureCells cells(known.meaning, known.key().value_or(""));
    const ExampleSums sums = cells.sums_of(read.statistics);
    std::vector<double> total(cells.size(), 0.0);
    for (const auto& entry : sums.entries) total[entry.cell] += entry.value;
    return cells.value(total);
  };
  EXPECT_EQ(value("test/precision"), 1.0 / 3.0);
  EXPECT_EQ(value("test/recall"), 1.0 / 3.0);
  EXPECT_EQ(value("test/recall/PER"), 1.0);
  EXPECT_EQ(value("test/recall/LOC"), 0.0);
  EXPECT_EQ(value("test/f1_macro"), 0.5);
  EXPECT_EQ(value("test/token_accuracy"), 5.0 / 7.0) << "a word without a prediction counts as O";
  CountMatrix confusion;
  confusion.add(store::legacy_confusion(), read.statistics);
  EXPECT_EQ(confusion.names(), (std::vector<std::string>{"LOC", "O", "PER"}));
  EXPECT_EQ(confusion.counts(), (std::vector<std::vector<double>>{{2, 1, 0}, {0, 3, 0}, {0, 0, 1}}));
}

/// Returns the message with which the file is rejected.
std::string refusal(const std::filesystem::path& file) {
  try {
    analysis::read_statistics(file);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ExampleScores, ADamagedFileIsNamedWithItsLine) {
  const TemporaryFolder folder;
  const std::string sound = "{\"truth\": [\"O\"], \"predicted\": [\"O\"]}\n";
  const auto with = [&](const std::string& line) { return write(folder, sound + line + "\n"); };
  const std::string place = (folder / "test.jsonl").string() + ":2: ";
  const std::string nothing =
      "has no \"statistics\", and not one label per word in \"truth\" and \"predicted\"";
  EXPECT_EQ(refusal(with("{\"truth\": [\"O\"]}")), place + nothing);
  EXPECT_EQ(refusal(with("{\"truth\": [1], \"predicted\": [2]}")), place + nothing);
  EXPECT_EQ(refusal(with("{\"truth\"")), place + "is not a JSON object");
  EXPECT_EQ(refusal(with("[]")), place + "is not a JSON object");
  EXPECT_EQ(refusal(with("{\"truth\": [\"O\"], \"predicted\": [\"O\", \"O\"]}")),
            place + "there are more predicted tags than words");
  EXPECT_EQ(refusal(with("{\"statistics\": {\"words\": \"many\"}}")),
            place + "invalid column \"words\": expected a number, found string");
  EXPECT_THROW(analysis::read_statistics(folder / "absent.jsonl"), Error);
}

/// Makes n examples with one label each, of which the first `found` are found.
Statistics found_in(std::size_t n, std::size_t found) {
  Statistics statistics;
  for (std::size_t i = 0; i < n; ++i) {
    statistics.begin_example();
    statistics.add("truth", 1, "PER");
    statistics.add("predicted", 1, "PER");
    if (i < found) statistics.add("correct", 1, "PER");
  }
  return statistics;
}

/// Makes n examples of four tokens, of which the first `bad` have a loss of 2 instead of 1 each.
Statistics losses_of(std::size_t n, std::size_t bad) {
  Statistics statistics;
  for (std::size_t i = 0; i < n; ++i) {
    statistics.begin_example();
    statistics.add("loss", i < bad ? 8.0 : 4.0);
    statistics.add("tokens", 4.0);
  }
  return statistics;
}

TEST(ExampleScores, PermutationNearTheExactProbability) {
  // Six examples differ, all in favour of the first: only 2 of 2^6 permutations are as extreme.
  MeasureCells cells(f1);
  const std::vector<ExampleSums> a = {cells.sums_of(found_in(100, 50))},
                                 b = {cells.sums_of(found_in(100, 44))};
  const analysis::PermutationTest test = analysis::permutation_test(a, b, cells);
  EXPECT_NEAR(test.difference, 0.06, 1e-12);
  EXPECT_NEAR(test.p, 2.0 / 64, 0.006);
  EXPECT_EQ(test.examples, 100u);
  EXPECT_EQ(analysis::permutation_test(b, a, cells).p, test.p) << "the order of the two does not matter";
  EXPECT_EQ(analysis::permutation_test(a, a, cells).p, 1.0);
}

TEST(ExampleScores, PermutationOfAMeasureThatIsNotAFraction) {
  MeasureCells cells(perplexity);
  const std::vector<ExampleSums> a = {cells.sums_of(losses_of(100, 50))},
                                 b = {cells.sums_of(losses_of(100, 44))};
  const analysis::PermutationTest test = analysis::permutation_test(a, b, cells);
  EXPECT_NEAR(test.difference, std::exp(1.5) - std::exp(1.44), 1e-12);
  EXPECT_NEAR(test.p, 2.0 / 64, 0.006);
}

TEST(ExampleScores, StatisticsThatAreNotFiniteProveNothing) {
  MeasureCells cells(perplexity);
  for (const double loss : {std::nan(""), 1e6}) {  // the exponential of the second is infinite
    Statistics broken = losses_of(100, 0);
    broken.add("loss", loss * 400);
    const std::vector<ExampleSums> a = {cells.sums_of(losses_of(100, 50))}, b = {cells.sums_of(broken)};
    EXPECT_EQ(message_of<Error>([&] { analysis::permutation_test(a, b, cells); }),
              "the statistics of the predictions give a difference that is not finite");
  }
}

TEST(ExampleScores, SeedsDoNotCountAsExamples) {
  MeasureCells cells(f1);
  const ExampleSums a = cells.sums_of(found_in(100, 50)), b = cells.sums_of(found_in(100, 44));
  const std::vector<ExampleSums> thrice(3, a), twice(2, b);
  const analysis::PermutationTest one = analysis::permutation_test({&a, 1}, {&b, 1}, cells),
                                  many = analysis::permutation_test(thrice, twice, cells);
  EXPECT_EQ(one.difference, many.difference);
  EXPECT_EQ(one.p, many.p);
}

}  // namespace
}  // namespace encore::testing
