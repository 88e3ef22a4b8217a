// Scores from the stored predictions, example by example, and the test on examples: would the difference
// between two models be as large if each example's predictions had been dealt to the two at random? Place in
// the flow: the worker writes predictions/test.jsonl (tasks/ner.cpp), comparison.cpp asks here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/entities.hpp"

namespace encore {

/// A measure that follows from counts: "test/f1", "dev/recall/PER", "test/token_accuracy".
struct ExampleMeasure {
  enum class Kind { f1, precision, recall, token_accuracy };
  std::string split;  ///< dev or test
  Kind kind = Kind::f1;
  std::string type;  ///< of entities; empty: all

  /// Of counts that were summed over examples; in [0, 1].
  double value(const NerCounts& sum) const;
};

/// Nothing for a measure that does not follow from the counts of the examples, such as a loss.
std::optional<ExampleMeasure> example_measure(const std::string& metric);

/// One entry per example. For token_accuracy words take the place of entities. Throws Error that names the
/// file and the line.
std::vector<NerCounts> read_example_counts(const std::filesystem::path& predictions,
                                           const ExampleMeasure& measure);

/// The two-sided permutation test (approximate randomization; Noreen 1989).
struct PermutationTest {
  double difference = 0.0;  ///< of the measures, first minus second
  double p = 1.0;           ///< (1 + shuffles with a difference as large) / (1 + shuffles)
  std::size_t examples = 0;
  std::size_t shuffles = 0;
};

/// Each side: at least one run, each run's counts for the same examples. The runs of a side are taken
/// together: the measure is that of all their predictions, and an example's predictions of all runs change
/// sides at once, so that seeds do not count as examples.
PermutationTest permutation_test(std::span<const std::vector<NerCounts>> a,
                                 std::span<const std::vector<NerCounts>> b, const ExampleMeasure& measure,
                                 std::size_t shuffles = 10000, std::uint64_t seed = 1);

}  // namespace encore
