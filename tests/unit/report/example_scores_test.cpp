// Counts from stored predictions and the permutation test on examples.
#include "report/example_scores.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include <encore/error.hpp>

#include "unit/record/temporary_folder.hpp"

namespace encore::testing {
namespace {

using Counts = std::vector<NerCounts>;

std::filesystem::path write(const TemporaryFolder& folder, const std::string& text) {
  const std::filesystem::path file = folder / "test.jsonl";
  std::ofstream(file) << text;
  return file;
}

TEST(ExampleScores, CountsOfEachExampleAddUpToTheMeasure) {
  const TemporaryFolder folder;
  const auto file = write(folder, R"({"truth": ["B-PER", "O", "B-LOC"], "predicted": ["B-PER", "O", "O"]}
{"truth": ["B-LOC", "I-LOC"], "predicted": ["B-LOC", "B-LOC"]}
{"truth": ["O", "O"], "predicted": ["O"]}
)");
  const Counts all = read_example_counts(file, *example_measure("test/f1"));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].truth, 2);
  EXPECT_EQ(all[0].predicted, 1);
  EXPECT_EQ(all[0].correct, 1);
  EXPECT_EQ(all[1].correct, 0);
  EXPECT_EQ(all[1].predicted, 2);
  const Counts places = read_example_counts(file, *example_measure("test/recall/LOC"));
  EXPECT_EQ(places[0].truth, 1);
  EXPECT_EQ(places[0].correct, 0);
  const Counts words = read_example_counts(file, *example_measure("test/token_accuracy"));
  EXPECT_EQ(words[0].correct, 2);
  EXPECT_EQ(words[2].correct, 2) << "a word without a prediction counts as O";
}

TEST(ExampleScores, OnlyMeasuresThatFollowFromCounts) {
  for (const char* metric : {"test/f1", "dev/precision", "test/recall/creative-work", "dev/token_accuracy"})
    EXPECT_TRUE(example_measure(metric)) << metric;
  for (const char* metric : {"train/f1", "test/loss", "test/f1_macro", "f1", "", "test/token_accuracy/PER"})
    EXPECT_FALSE(example_measure(metric)) << metric;
}

TEST(ExampleScores, ADamagedFileIsNamedWithItsLine) {
  const TemporaryFolder folder;
  const auto file = write(folder, "{\"truth\": [\"O\"], \"predicted\": [\"O\"]}\n{\"truth\": [\"O\"]}\n");
  try {
    read_example_counts(file, *example_measure("test/f1"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), file.string() + ":2: is no JSON object with \"truth\" and \"predicted\"");
  }
  EXPECT_THROW(read_example_counts(folder / "absent.jsonl", *example_measure("test/f1")), Error);
}

/// n examples with one entity each, of which the first `found` are found.
Counts found_in(std::size_t n, std::size_t found) {
  Counts counts(n);
  for (std::size_t i = 0; i < n; ++i) counts[i] = {1, 1, i < found ? 1 : 0};
  return counts;
}

TEST(ExampleScores, PermutationNearTheExactProbability) {
  const ExampleMeasure measure = *example_measure("test/f1");
  // Six examples differ, all for the first: it is as one-sided in 2 of 2^6 deals.
  const std::vector<Counts> a = {found_in(100, 50)}, b = {found_in(100, 44)};
  const PermutationTest test = permutation_test(a, b, measure);
  EXPECT_NEAR(test.difference, 0.06, 1e-12);
  EXPECT_NEAR(test.p, 2.0 / 64, 0.006);
  EXPECT_EQ(test.examples, 100u);
  EXPECT_EQ(permutation_test(b, a, measure).p, test.p) << "the order of the two does not matter";
  EXPECT_EQ(permutation_test(a, a, measure).p, 1.0);
}

TEST(ExampleScores, SeedsDoNotCountAsExamples) {
  const ExampleMeasure measure = *example_measure("test/f1");
  const std::vector<Counts> a = {found_in(100, 50)}, b = {found_in(100, 44)};
  const std::vector<Counts> thrice(3, a[0]), twice(2, b[0]);
  const PermutationTest one = permutation_test(a, b, measure),
                        many = permutation_test(thrice, twice, measure);
  EXPECT_EQ(one.difference, many.difference);
  EXPECT_EQ(one.p, many.p);
}

}  // namespace
}  // namespace encore::testing
