// SPDX-License-Identifier: BSD-3-Clause
// The measures of tasks that give each thing (example, word or relation) one class, and add_class(), which
// adds one thing to the statistics. classify, relation and tag use them; the host's reducers compute the
// values. They count as scikit-learn's classification_report does. Runs store the names of measures and
// columns, so these never change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

#include "label_measures.hpp"

namespace encore::tasks {

/// Returns accuracy, the mean of the labels' F1, Matthews' correlation, the measures of each label, and a
/// confusion matrix. `things`: what has a class, such as "examples".
inline std::vector<Measure> class_measures(const std::string& things) {
  std::vector<Measure> measures = {{.name = "accuracy",
                                    .help = "share of the " + things + " with the right label",
                                    .fraction = true,
                                    .reducer = Reducer::ratio,
                                    .columns = {"correct", "truth"}},
                                   {.name = "f1_macro",
                                    .title = "macro F1",
                                    .help = "mean of the F1 of each label",
                                    .fraction = true,
                                    .reducer = Reducer::macro_harmonic_mean,
                                    .columns = {"correct", "predicted", "truth"}},
                                   {.name = "mcc",
                                    .title = "MCC",
                                    .help = "Matthews' correlation of true and predicted labels, in [-1, 1]",
                                    .reducer = Reducer::matthews,
                                    .columns = {"confusion"}}};
  std::ranges::move(measures_of_labels(things), std::back_inserter(measures));
  measures.push_back({.name = "confusion",
                      .help = "number of " + things + " for each pair of true and predicted label",
                      .better = Better::neither,
                      .reducer = Reducer::matrix,
                      .columns = {"confusion"}});
  return measures;
}

/// Adds `count` things with these labels to the current example.
inline void add_class(std::string_view truth, std::string_view predicted, std::int64_t count,
                      Statistics& statistics) {
  const auto value = static_cast<double>(count);
  statistics.add("truth", value, truth);
  statistics.add("predicted", value, predicted);
  statistics.add("correct", truth == predicted ? value : 0.0, truth);
  statistics.add("confusion", value, truth, predicted);
}

}  // namespace encore::tasks
