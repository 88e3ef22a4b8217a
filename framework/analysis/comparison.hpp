// SPDX-License-Identifier: BSD-3-Clause
// Comparison says what can be concluded about each pair of candidates (candidates.hpp). Without enough seeds
// it ranks nothing and gives the reason. `exp compare` selects runs (store/selection.hpp), calls
// compare_runs() and prints the result; reports call collect_candidates() and test_pairs() by themselves
// (report/questions.cpp). Nothing is stored. Another test or correction changes published verdicts and the
// pages that name it. The formulas are in statistics.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/candidates.hpp"
#include "analysis/example_scores.hpp"
#include "analysis/statistics.hpp"
#include "base/metric.hpp"
#include "store/store.hpp"

namespace encore::analysis {

struct CompareOptions {
  Metric metric = {};
  bool by_run = false;  ///< each run is a candidate of its own
  bool pool = false;    ///< runs from different plugin files and numeric environments are one candidate too
  /// The smallest difference that matters to the user, in the metric's own unit. Without a value the observed
  /// difference is used.
  std::optional<double> detect = {};
  double alpha = 0.05;  ///< error rate of all pairs together; intervals cover 1 - alpha
  double power = 0.8;
  bool examples = true;  ///< also test on the stored predictions, which reads every file
};

enum class Verdict {
  higher,     ///< the first candidate has the higher mean
  lower,      ///< the first candidate has the lower mean
  undecided,  ///< too few seeds for the spread
  refused,    ///< no test is possible
};
/// Returns "higher", "lower", "undecided", "refused".
const char* name_of(Verdict verdict);

/// The tests of one pair of candidates, over seeds and over examples, and the verdict that follows.
struct Pair {
  std::size_t a = 0, b = 0;  ///< indices in `candidates`
  std::size_t shared = 0;    ///< seeds with a value on both sides
  bool same_set = true;      ///< whether both were scored on the same data
  std::size_t counted = 0;   ///< seeds of the smaller side that the test uses
  std::string test;          ///< "paired t", "Welch's t", or empty
  std::optional<TTest> seeds;
  double difference = 0.0;  ///< of the means (in a paired test, over the shared seeds); NaN without values
  double corrected = 1.0;   ///< p of `seeds` after Holm's correction
  std::optional<std::size_t> needed;  ///< number of seeds of each candidate that would show the difference
  std::optional<PermutationTest> examples;
  double examples_corrected = 1.0;
  std::string no_examples;  ///< why there is no test on examples
  Verdict verdict = Verdict::refused;
  std::string reason;  ///< of the verdict: a sentence without a full stop
};

struct Comparison {
  CompareOptions options;
  std::vector<Candidate> candidates;
  std::vector<Pair> pairs = {};
  std::size_t family = 0;  ///< number of tests for which p is corrected; at least pairs.size()
  /// Facts needed to read the numbers: environments, data, repeats.
  std::vector<std::string> notices = {};
  /// The indices of the candidates from the highest to the lowest. Empty unless every pair is distinguished,
  /// or if three candidates beat each other in a circle.
  std::vector<std::size_t> ranking = {};
};

/// Collects the candidates and their notices; tests no pair.
Comparison collect_candidates(store::Store& store, const std::vector<store::RunRow>& runs,
                              const CompareOptions& options);

/// Returns the candidates from the best mean to the worst, those without a value last: the order in which
/// every table shows them and gives them letters.
std::vector<std::size_t> best_first(const Comparison& comparison);

/// Fills `pairs` with the tests of these candidates. If more pairs were possible than are tested, `family` is
/// their number: choosing which to test after seeing the scores is a choice among all of them.
void test_pairs(store::Store& store, Comparison& comparison,
                const std::vector<std::pair<std::size_t, std::size_t>>& pairs, std::size_t family = 0);

/// Tests all pairs of all candidates, the better one of a pair first. Throws Error like require_metric().
Comparison compare_runs(store::Store& store, const std::vector<store::RunRow>& runs,
                        const CompareOptions& options);

/// Returns the value as users read it: a fraction in percent with two decimals, any other value with four
/// digits, and "-" for NaN.
std::string metric_text(const Metric& metric, double value);

/// Chooses the digits of a mean, its standard deviation and the ends of its interval: all have the same
/// decimals, enough for four digits of the mean and two of the deviation; a fraction has two decimals in
/// percent, as everywhere. A deviation therefore never has more decimals than its mean.
class MeanDigits {
 public:
  /// `deviation`: NaN if there is none.
  MeanDigits(const Metric& metric, double mean, double deviation);
  std::string text(double value) const;

 private:
  Metric metric_;
  std::optional<int> decimals_ = {};  ///< nothing: numbers of this size are written with a power of ten
};

}  // namespace encore::analysis
