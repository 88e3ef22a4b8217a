// SPDX-License-Identifier: BSD-3-Clause
// CountMatrix, the confusion matrix of a measure. Its names are sorted, so that a matrix does not depend on
// the order of the examples; this must stay. worker/evaluate_verb.cpp, report/classes.cpp and
// measure_json.cpp use it. Read count_matrix.hpp first.
#include "base/count_matrix.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

#include <encore/error.hpp>

#include "base/measure_cells.hpp"

namespace encore {

void CountMatrix::add(const Measure& measure, const Statistics& statistics) {
  ENCORE_REQUIRE(measure.reducer == Reducer::matrix && measure.columns.size() == 1,
                 "the measure is a matrix");
  const std::vector<int> places = places_of(measure, statistics);
  for (const Statistics::Entry& entry : statistics.entries())
    if (places[entry.column] >= 0)
      add(statistics.keys()[entry.key], statistics.keys()[entry.second_key], entry.value);
}

void CountMatrix::add(const std::string& truth, const std::string& predicted, double count) {
  counts_[{truth, predicted}] += count;
}

std::vector<std::string> CountMatrix::names() const {
  std::set<std::string> names;
  for (const auto& [pair, count] : counts_) names.insert({pair.first, pair.second});
  return {names.begin(), names.end()};
}

std::vector<std::vector<double>> CountMatrix::counts() const {
  const std::vector<std::string> all = names();
  const auto index = [&](const std::string& name) {
    return static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), name) - all.begin());
  };
  std::vector<std::vector<double>> counts(all.size(), std::vector<double>(all.size(), 0.0));
  for (const auto& [pair, count] : counts_) counts[index(pair.first)][index(pair.second)] = count;
  return counts;
}

}  // namespace encore
