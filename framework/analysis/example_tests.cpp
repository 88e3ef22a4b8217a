// SPDX-License-Identifier: BSD-3-Clause
// Runs the permutation test for a pair of candidates: reads the example sums of each run from its predictions
// file, or records why it cannot. comparison.cpp calls it. The reasons are shown to users as they are. Read
// example_tests.hpp first.
#include "analysis/example_tests.hpp"

#include "analysis/predictions.hpp"
#include "base/readable_text.hpp"
#include "store/legacy_metrics.hpp"
#include "store/metrics.hpp"

namespace encore::analysis {

namespace {

std::optional<MeasureCells> cells_of(const Metric& metric) {
  if (!has_value(metric.meaning.reducer)) return std::nullopt;
  return MeasureCells(metric.meaning, metric.key().value_or(""));
}

}  // namespace

ExampleTests::ExampleTests(store::Store& store, const Metric& metric)
    : store_(store), metric_(metric), cells_(cells_of(metric)) {}

void ExampleTests::test(const std::vector<const Replicate*>& a, const std::vector<const Replicate*>& b,
                        Pair& pair) try {
  pair.examples = tested(a, b, pair.same_set);
} catch (const Error& error) {
  pair.no_examples = error.what();
}

PermutationTest ExampleTests::tested(const std::vector<const Replicate*>& a,
                                     const std::vector<const Replicate*>& b, bool same_set) {
  if (!cells_) throw Error(refusal(a, b));
  const std::vector<ExampleSums> left = read(a), right = read(b);
  if (left.empty() || right.empty()) throw Error("a candidate has no complete run");
  if (!same_set) throw Error("the " + metric_.split() + " sets are not the same");
  for (const auto* side : {&left, &right})
    for (const ExampleSums& sums : *side)
      if (sums.examples() != left[0].examples()) throw Error("the predictions are not of the same examples");
  return permutation_test(left, right, *cells_);
}

std::string ExampleTests::refusal(const std::vector<const Replicate*>& a,
                                  const std::vector<const Replicate*>& b) const {
  std::vector<store::RunRow> runs;
  for (const auto* side : {&a, &b})
    for (const Replicate* replicate : *side) runs.push_back(replicate->run);
  std::vector<std::string> others;
  for (const Metric& other :
       store::read_metrics(store_.database(), runs).in_order(metric_.name, {metric_.split()}))
    if (has_value(other.meaning.reducer)) others.push_back(other.name);
  return metric_.name + " does not follow from the statistics of single examples" +
         (others.empty() ? "" : "; " + listed(others) + (others.size() == 1 ? " does" : " do"));
}

std::vector<ExampleSums> ExampleTests::read(const std::vector<const Replicate*>& replicates) {
  std::vector<ExampleSums> all;
  for (const Replicate* replicate : replicates) {
    const store::RunRow& run = replicate->run;
    auto found = sums_.find(run.number);
    if (found == sums_.end()) {
      const auto file = recorded_artifact(store_, run, predictions_name(metric_.split()));
      const PredictedStatistics read = read_statistics(file);
      if (read.is_old && store::legacy_meaning(metric_.name).columns != metric_.meaning.columns)
        throw Error(file.string() + " is of an older version, which did not count what " + metric_.name +
                    " needs");
      found = sums_.emplace(run.number, cells_->sums_of(read.statistics)).first;
    }
    all.push_back(found->second);
  }
  return all;
}

}  // namespace encore::analysis
