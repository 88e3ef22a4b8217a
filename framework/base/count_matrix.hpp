// SPDX-License-Identifier: BSD-3-Clause
// CountMatrix: how often each true label was predicted as each label (a confusion matrix). Place in the flow:
// the statistics of a measure with the reducer `matrix` -> here -> files and reports. measure_json.hpp has
// its stored form.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

namespace encore {

/// Holds the counts of a measure with the reducer `matrix`, summed over examples and data sets.
class CountMatrix {
 public:
  void add(const Measure& measure, const Statistics& statistics);
  void add(const std::string& truth, const std::string& predicted, double count);

  bool empty() const { return counts_.empty(); }
  /// Returns all labels of the truth and of the predictions, sorted.
  std::vector<std::string> names() const;
  /// Returns counts()[truth][predicted]; both indices are those of names().
  std::vector<std::vector<double>> counts() const;
  /// Returns the counts, keyed by (truth, prediction).
  const std::map<std::pair<std::string, std::string>, double>& pairs() const { return counts_; }

 private:
  std::map<std::pair<std::string, std::string>, double> counts_;
};

}  // namespace encore
