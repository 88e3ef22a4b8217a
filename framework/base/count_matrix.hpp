// CountMatrix: what was taken for what, such as the truth and the prediction of every label.
// Place in the flow: the statistics of a measure with the reducer `matrix` -> here -> files and reports.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

namespace encore {

/// The counts of a measure with the reducer `matrix`, summed over examples and sets.
class CountMatrix {
 public:
  void add(const Measure& measure, const Statistics& statistics);
  void add(const std::string& truth, const std::string& predicted, double count);

  bool empty() const { return counts_.empty(); }
  /// Sorted: what stands in the truth or in the predictions.
  std::vector<std::string> names() const;
  /// counts()[truth][predicted], both numbered as in names().
  std::vector<std::vector<double>> counts() const;
  /// By truth and prediction.
  const std::map<std::pair<std::string, std::string>, double>& pairs() const { return counts_; }

 private:
  std::map<std::pair<std::string, std::string>, double> counts_;
};

}  // namespace encore
