// SPDX-License-Identifier: BSD-3-Clause
// Compares candidates pair by pair for `exp compare` and reports: chooses the test, corrects for the number
// of pairs, and writes the reason of each verdict. Nothing is stored: every call computes the verdicts again
// from the database. Read comparison.hpp first; the formulas are in statistics.hpp.
#include "analysis/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/example_tests.hpp"
#include "analysis/foreign_values.hpp"
#include "analysis/selection_notice.hpp"
#include "base/readable_text.hpp"

namespace encore::analysis {

namespace {

/// Returns the content hash of the file of that split; empty if the run reads none.
std::string set_of(store::Store& store, const store::RunRow& run, const std::string& split) {
  for (const store::DatasetRow& file : store.read_datasets(run.number))
    if (file.role == split) return file.sha256;
  return "";
}

/// Returns whether both candidates were scored on the same file. One run of each is enough, because hashes of
/// files are part of the group.
bool same_set(store::Store& store, const Candidate& a, const Candidate& b, const std::string& split) {
  return set_of(store, a.runs[0].run, split) == set_of(store, b.runs[0].run, split);
}

struct SharedSeeds {
  std::vector<const Replicate*> a, b;  ///< a[i] and b[i] have equal seeds, and both have a value
};

SharedSeeds shared_seeds(const Candidate& a, const Candidate& b) {
  SharedSeeds shared;
  for (const Replicate& left : a.runs)
    for (const Replicate& right : b.runs)
      if (left.value && right.value && left.run.seed == right.run.seed) {
        shared.a.push_back(&left);
        shared.b.push_back(&right);
        break;
      }
  return shared;
}

std::vector<double> values_of(const std::vector<const Replicate*>& replicates) {
  std::vector<double> values;
  for (const Replicate* replicate : replicates) values.push_back(*replicate->value);
  return values;
}

std::vector<const Replicate*> with_value(const Candidate& candidate) {
  std::vector<const Replicate*> found;
  for (const Replicate& replicate : candidate.runs)
    if (replicate.value) found.push_back(&replicate);
  return found;
}

/// Tests the difference over pairs of equal seeds if at least two seeds, and half of those of the smaller
/// side, have a value on both sides; otherwise by Welch's test.
void test_seeds(const Candidate& a, const Candidate& b, const SharedSeeds& shared, double level, Pair& pair) {
  pair.shared = shared.a.size();
  const std::size_t smaller = std::min(a.values.size(), b.values.size());
  pair.counted = smaller;
  if (pair.shared >= 2 && 2 * pair.shared >= smaller) {
    const std::vector<double> left = values_of(shared.a), right = values_of(shared.b);
    pair.test = "paired t";
    pair.counted = pair.shared;
    pair.difference = mean_of(left) - mean_of(right);
    pair.seeds = paired_t_test(left, right, level);
  } else {
    pair.difference = a.mean - b.mean;
    if (smaller < 2) return;
    pair.test = "Welch's t";
    pair.seeds = welch_t_test(a.values, b.values, level);
  }
}

std::optional<std::size_t> seeds_that_would_do(const Candidate& a, const Candidate& b, const Pair& pair,
                                               const SharedSeeds& shared, double difference, double alpha,
                                               double power) {
  if (!pair.seeds || !pair.same_set) return std::nullopt;
  if (pair.test == "Welch's t") return seeds_for_welch(a.deviation, b.deviation, difference, alpha, power);
  std::vector<double> differences = values_of(shared.a);
  for (std::size_t i = 0; i < differences.size(); ++i) differences[i] -= *shared.b[i]->value;
  return seeds_for_paired(deviation_of(differences), difference, alpha, power);
}

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", 100.0 * share);
  return text;
}

std::string p_text(double p) {
  char text[32];
  std::snprintf(text, sizeof text, p < 0.001 ? "%.1e" : "%.3f", p);
  return text;
}

/// Returns why nothing can be tested.
std::string refusal(const Candidate& a, const Candidate& b, const Pair& pair) {
  for (const Candidate* candidate : {&a, &b})
    if (candidate->values.empty()) return candidate->name + " has no complete run";
  for (const Candidate* candidate : {&a, &b})
    if (!candidate->runs.empty() && is_application(candidate->runs.front().run))
      return candidate->name +
             " is an application, which draws nothing, so its seeds show no spread; the test on examples "
             "compares its answers, and models of several seeds would show a spread";
  for (const Candidate* candidate : {&a, &b})
    if (candidate->values.size() == 1)
      return candidate->name +
             " has one seed, which says nothing about the spread; train at least three "
             "(seeds = [1, 2, 3])";
  const auto [least, most] = std::ranges::minmax(a.values);
  return pair.test == "paired t"
             ? std::string(
                   "on every shared seed the difference is the same, so there is no spread to test "
                   "against; ") +
                   (least < most ? "train more seeds, such as --seeds 1-5" : "does the seed change anything?")
             : "neither has any spread to test against; does the seed change anything?";
}

std::string too_few(const Pair& pair, const CompareOptions& options, std::size_t pairs) {
  const bool asked = options.detect.has_value();
  const std::string difference =
      metric_text(options.metric, asked ? *options.detect : std::abs(pair.difference));
  const std::string seeds =
      std::to_string(pair.counted) + (pair.test == "paired t" ? " shared seeds" : " seeds of each");
  const std::string at = percent(options.power) + " power at alpha " + p_text(options.alpha) +
                         (pairs > 1 ? " over " + std::to_string(pairs) + " pairs" : "");
  if (!pair.needed)
    return "p " + p_text(pair.corrected) +
           ": a difference this small would take more than a million seeds; "
           "name the one that matters with --detect";
  if (asked && *pair.needed <= pair.counted)
    return "p " + p_text(pair.corrected) + ": no difference; " + seeds + " would show one of " + difference +
           " (" + at + ")";
  return "p " + p_text(pair.corrected) + ": " + seeds + " are too few for this spread; about " +
         std::to_string(*pair.needed) + (pair.test == "paired t" ? "" : " of each") +
         " would show a difference of " + difference + " (" + at + ")";
}

/// Applies Holm's correction over all tests that could be made; Bonferroni's, which is never smaller, if the
/// family holds pairs that were not tested.
void correct(Comparison& comparison) {
  std::vector<double> seeds, examples;
  for (const Pair& pair : comparison.pairs) {
    if (pair.seeds) seeds.push_back(pair.seeds->p);
    if (pair.examples) examples.push_back(pair.examples->p);
  }
  const bool whole = comparison.family == comparison.pairs.size();
  const auto corrected = [&](const std::vector<double>& p_values) {
    if (whole) return holm(p_values);
    std::vector<double> all;
    for (const double p : p_values) all.push_back(std::min(1.0, p * static_cast<double>(comparison.family)));
    return all;
  };
  const std::vector<double> seeds_corrected = corrected(seeds), examples_corrected = corrected(examples);
  std::size_t seed = 0, example = 0;
  for (Pair& pair : comparison.pairs) {
    if (pair.seeds) pair.corrected = seeds_corrected[seed++];
    if (pair.examples) pair.examples_corrected = examples_corrected[example++];
  }
}

void judge(const Comparison& comparison, const SharedSeeds& shared, Pair& pair) {
  const Candidate& a = comparison.candidates[pair.a];
  const Candidate& b = comparison.candidates[pair.b];
  const CompareOptions& options = comparison.options;
  const std::size_t pairs = comparison.family;
  pair.needed = seeds_that_would_do(a, b, pair, shared, options.detect.value_or(pair.difference),
                                    options.alpha / static_cast<double>(pairs), options.power);
  if (!pair.same_set) {
    pair.verdict = Verdict::refused;
    pair.reason = "they were not scored on the same " + options.metric.split() + " set";
  } else if (!pair.seeds) {
    pair.verdict = Verdict::refused;
    pair.reason = refusal(a, b, pair);
  } else if (pair.corrected > options.alpha) {
    pair.verdict = Verdict::undecided;
    pair.reason = too_few(pair, options, pairs);
  } else {
    pair.verdict = pair.difference > 0.0 ? Verdict::higher : Verdict::lower;
    pair.reason = "p " + p_text(pair.corrected) + ": " +
                  (pair.test == "paired t" ? std::to_string(pair.shared) + " shared seeds"
                                           : "independent seeds, " + std::to_string(pair.shared) + " shared");
  }
}

std::vector<std::size_t> ranking_of(const Comparison& comparison) {
  const bool all = std::all_of(comparison.pairs.begin(), comparison.pairs.end(), [](const Pair& pair) {
    return pair.verdict == Verdict::higher || pair.verdict == Verdict::lower;
  });
  if (!all || comparison.pairs.empty()) return {};
  // Candidates are sorted by the number of candidates that each is higher than. Sorting by pairs would fail:
  // paired differences on different seeds may order three candidates in a circle.
  std::vector<std::size_t> wins(comparison.candidates.size()), order(comparison.candidates.size());
  for (const Pair& pair : comparison.pairs) ++wins[pair.verdict == Verdict::higher ? pair.a : pair.b];
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return wins[i] > wins[j]; });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (wins[order[i]] == wins[order[i - 1]]) return {};
  return order;
}

Comparison comparison_of(store::Store& store, const std::vector<store::RunRow>& runs,
                         const CompareOptions& options) {
  require_metric(store, runs, options.metric.name);
  Comparison comparison = collect_candidates(store, runs, options);
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  const std::vector<std::size_t> order = best_first(comparison);
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size(); ++j) pairs.emplace_back(order[i], order[j]);
  test_pairs(store, comparison, pairs);
  comparison.ranking = ranking_of(comparison);
  return comparison;
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::higher:
      return "higher";
    case Verdict::lower:
      return "lower";
    case Verdict::undecided:
      return "undecided";
    case Verdict::refused:
      break;
  }
  return "refused";
}

Comparison collect_candidates(store::Store& store, const std::vector<store::RunRow>& runs,
                              const CompareOptions& options) {
  Comparison comparison;
  comparison.options = options;
  comparison.candidates = candidates_of(
      store, runs, {options.metric, options.by_run, options.pool, options.alpha}, comparison.notices);
  note_environments(comparison.candidates, comparison.notices);
  note_selection(store, comparison.candidates, comparison.notices);
  return comparison;
}

std::vector<std::size_t> best_first(const Comparison& comparison) {
  std::vector<std::size_t> order(comparison.candidates.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const bool lower = comparison.options.metric.lower_is_better();
  std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) {
    const double a = comparison.candidates[i].mean, b = comparison.candidates[j].mean;
    if (std::isnan(a) || std::isnan(b)) return std::isnan(b) && !std::isnan(a);
    return lower ? a < b : a > b;
  });
  return order;
}

void test_pairs(store::Store& store, Comparison& comparison,
                const std::vector<std::pair<std::size_t, std::size_t>>& pairs, std::size_t family) {
  const CompareOptions& options = comparison.options;
  ExampleTests examples(store, options.metric);
  std::vector<SharedSeeds> shared;
  comparison.pairs.clear();
  for (const auto& [i, j] : pairs) {
    const Candidate& a = comparison.candidates[i];
    const Candidate& b = comparison.candidates[j];
    shared.push_back(shared_seeds(a, b));
    Pair& pair = comparison.pairs.emplace_back();
    pair.a = i;
    pair.b = j;
    pair.same_set = same_set(store, a, b, options.metric.split());
    test_seeds(a, b, shared.back(), 1.0 - options.alpha, pair);
    const bool paired = pair.test == "paired t";
    if (options.examples)
      examples.test(paired ? shared.back().a : with_value(a), paired ? shared.back().b : with_value(b), pair);
    else
      pair.no_examples = "not requested";
  }
  comparison.family = std::max(family, pairs.size());
  correct(comparison);
  for (std::size_t i = 0; i < comparison.pairs.size(); ++i) judge(comparison, shared[i], comparison.pairs[i]);
}

Comparison compare_runs(store::Store& store, const std::vector<store::RunRow>& runs,
                        const CompareOptions& options) {
  return reading_values_of(store, [&] { return comparison_of(store, runs, options); });
}

std::string metric_text(const Metric& metric, double value) {
  if (std::isnan(value)) return "-";
  if (metric.is_fraction()) return fixed_text(100.0 * value, 2);
  char text[48];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

namespace {

/// Returns the number of decimals with which `value` has `digits` significant digits. Returns nothing for 0
/// and NaN.
std::optional<int> decimals_of(double value, int digits) {
  if (!std::isfinite(value) || value == 0.0) return std::nullopt;
  return digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(value))));
}

}  // namespace

MeanDigits::MeanDigits(const Metric& metric, double mean, double deviation) : metric_(metric) {
  constexpr int most_decimals = 9;
  constexpr double most_value = 1e9;
  if (metric.is_fraction() || std::isnan(deviation) || !(std::abs(mean) < most_value)) return;
  const int decimals = std::max(decimals_of(mean, 4).value_or(0), decimals_of(deviation, 2).value_or(0));
  if (decimals <= most_decimals) decimals_ = std::max(0, decimals);
}

std::string MeanDigits::text(double value) const {
  return decimals_ && std::isfinite(value) ? fixed_text(value, *decimals_) : metric_text(metric_, value);
}

}  // namespace encore::analysis
