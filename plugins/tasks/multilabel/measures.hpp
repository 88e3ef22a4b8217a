// The measures of a task with several labels per text, as data, and what one text adds to them.
// Place in the flow: labels (true and predicted) and scores -> measure_text -> Statistics -> the host's
// reducers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

namespace encore::multilabel {

/// F1 over all decisions and as the mean of the labels', the area under each label's ROC curve, and the share
/// of examples with exactly the right labels; as scikit-learn counts them with zero_division = 0.
std::vector<Measure> measures();

/// The prediction for one text.
struct Labelling {
  std::vector<std::string> truth = {}, predicted = {};  ///< each without duplicates, in any order
  std::span<const float> scores = {};                   ///< one for each of the model's labels
};

/// Adds the next example to `statistics`. The first one names all labels, so that a label that no example has
/// or gets counts as 0 in means over labels.
void measure_text(const std::vector<std::string>& labels, const Labelling& text, Statistics& statistics);

}  // namespace encore::multilabel
