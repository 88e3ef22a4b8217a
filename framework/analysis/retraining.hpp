// SPDX-License-Identifier: BSD-3-Clause
// Retraining compares a run with the one that it replaces on an old and on a new set, each over the same
// examples. `exp retrain` fills it and records it with the run (store/lineage.hpp); `exp show` and reports
// print it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/metric.hpp"
#include "record/specification.hpp"

namespace encore::analysis {

/// How much better a run is than its parent on one set. Gains are positive if the run is better: percentage
/// points of a measure that is a fraction, else in the unit of the measure.
struct ComparedSet {
  std::string what;  ///< "test set", "20 % of new.conll"
  std::size_t examples = 0;
  double parent = 0.0, run = 0.0;  ///< values of the measure
  double gain = 0.0;
  /// The interval of the gain at 95 %: the paired bootstrap over the examples (base/example_bootstrap.hpp).
  /// Empty if the measure does not follow from examples.
  std::optional<double> low = {}, high = {};
};

struct Retraining {
  std::string parent;  ///< id
  Metric measure;      ///< "test/f1"
  ComparedSet old_set, new_set;
  std::vector<record::DataFile> new_files;  ///< files from which the new set was made
  double held_out = 0.0;                    ///< the share of their examples in the new set; 0: all
  std::string rule;
  bool promoted = false;
};

nlohmann::json json_of(const Retraining& retraining);
/// Throws Error if the JSON is invalid.
Retraining retraining_in(const nlohmann::json& json);

/// Compares two models by the statistics of the same examples, so that the gain gets an interval. Throws
/// Error if the numbers of examples differ.
ComparedSet compared(const Metric& measure, const std::string& what, const Statistics& parent,
                     const Statistics& run);
/// Compares two models by their values alone; the gain has no interval.
ComparedSet compared(const Metric& measure, const std::string& what, std::size_t examples, double parent,
                     double run);
/// Returns whether the measure follows from the statistics of examples.
bool follows_from_examples(const Metric& measure);

/// Returns "+0.35 points (95 % interval -0.10 to +0.80)".
std::string gain_text(const Metric& measure, const ComparedSet& set);
/// Returns a sentence about each set, and one about the rule.
std::vector<std::string> sentences(const Retraining& retraining);

}  // namespace encore::analysis
