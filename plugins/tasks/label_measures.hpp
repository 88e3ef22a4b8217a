// SPDX-License-Identifier: BSD-3-Clause
// The measures of single labels, for all tasks whose examples have labels (class_measures.hpp, multilabel).
// Columns of the statistics have the label as key: "truth", "predicted", and "correct" if both are the label.
// Runs store these names, so they never change.
#pragma once

#include <string>
#include <vector>

#include <encore/measure.hpp>

namespace encore::tasks {

/// Returns f1/{label}, precision/{label}, recall/{label}. `things`: what has labels, such as "examples".
inline std::vector<Measure> measures_of_labels(const std::string& things) {
  return {{.name = "f1/{label}",
           .title = "F1",
           .help = "F1 of one label",
           .fraction = true,
           .reducer = Reducer::harmonic_mean,
           .columns = {"correct", "predicted", "truth"},
           .always = false},
          {.name = "precision/{label}",
           .help = "precision of one label: of the " + things +
                   " that are predicted to have it, the share that truly have it",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = {"correct", "predicted"},
           .always = false},
          {.name = "recall/{label}",
           .help = "recall of one label: of the " + things +
                   " that truly have it, the share that are predicted to have it",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = {"correct", "truth"},
           .always = false}};
}

}  // namespace encore::tasks
