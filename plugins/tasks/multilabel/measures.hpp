// SPDX-License-Identifier: BSD-3-Clause
// The measures of the task "multilabel" as data, and what one text adds to them. multilabel.cpp calls
// measure_text() with true and predicted labels and scores; the host's reducers compute the values. Runs
// store the names of measures, so these never change.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

namespace encore::multilabel {

/// Returns F1 over all decisions and as the mean over labels, the area under each label's ROC curve, and the
/// share of examples with exactly the right labels, as scikit-learn counts them with zero_division = 0.
std::vector<Measure> measures();

/// Truth and prediction of one text: the names of its labels, as Multilabel::measure (multilabel.cpp) finds
/// them, and the probability of each label.
struct Labelling {
  std::vector<std::string> truth = {}, predicted = {};  ///< each without duplicates, in any order
  std::span<const float> scores = {};                   ///< one for each of the model's labels
};

/// Adds the next example to `statistics`. The first example names all labels, so that labels that no example
/// has or gets count as 0 in means over labels.
void measure_text(const std::vector<std::string>& labels, const Labelling& text, Statistics& statistics);

}  // namespace encore::multilabel
