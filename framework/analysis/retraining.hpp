// SPDX-License-Identifier: BSD-3-Clause
// Retraining compares a run with its parent, the run that it replaces, on an old and on a new data set, each
// over the same examples. `exp retrain` (app/retraining_comparison.cpp) fills it and records it as JSON with
// the run (store/lineage.hpp); `exp show` and reports read it back and print it. The JSON is stored, so its
// fields keep their names.
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
  std::string what;  ///< the set, in words: "test set", "20 % of new.conll"
  std::size_t examples = 0;
  double parent = 0.0, run = 0.0;  ///< values of the measure
  double gain = 0.0;
  /// The interval of the gain at 95 %: the paired bootstrap over the examples (base/example_bootstrap.hpp).
  /// Empty if the measure cannot be computed from statistics of each example.
  std::optional<double> low = {}, high = {};
};

struct Retraining {
  std::string parent;  ///< id of the run that is replaced
  Metric measure;      ///< "test/f1"
  ComparedSet old_set, new_set;
  std::vector<record::DataFile> new_files;  ///< files from which the new set was made
  double held_out = 0.0;                    ///< the share of their examples in the new set; 0: all
  std::string rule;       ///< the condition of the promotion as the user gave it (promotion_rule.hpp)
  bool promoted = false;  ///< whether the rule holds, so that the run takes the place of its parent
};

/// Returns the stored form; `exp retrain --json` prints it too.
nlohmann::json json_of(const Retraining& retraining);
/// Returns the Retraining in its stored form. Throws Error if a field is missing or invalid.
Retraining retraining_in(const nlohmann::json& json);

/// Compares two models by the statistics of the same examples, so that the gain gets an interval. Throws
/// Error if the numbers of examples differ.
ComparedSet compared(const Metric& measure, const std::string& what, const Statistics& parent,
                     const Statistics& run);
/// Compares two models by one value of each; without values of examples the gain has no interval.
ComparedSet compared(const Metric& measure, const std::string& what, std::size_t examples, double parent,
                     double run);
/// Returns whether the measure can be computed from statistics of each example, so that its gain has an
/// interval.
bool follows_from_examples(const Metric& measure);

/// Returns "+0.35 points (95 % interval -0.10 to +0.80)".
std::string gain_text(const Metric& measure, const ComparedSet& set);
/// Returns a sentence about each set, and one about the rule.
std::vector<std::string> sentences(const Retraining& retraining);

}  // namespace encore::analysis
