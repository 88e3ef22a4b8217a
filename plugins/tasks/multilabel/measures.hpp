// What a task with several labels per text reports, as data, and what a text adds to it.
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
/// of texts with exactly the right labels; as scikit-learn counts them with zero_division = 0.
std::vector<Measure> measures();

/// What the model says of one text.
struct Labelling {
  std::vector<std::string> truth = {}, predicted = {};  ///< each without doubles, in any order
  std::span<const float> scores = {};                   ///< one for each of the model's labels
};

/// The next example of `statistics`. The first one names all labels, so that one that no text has or gets
/// counts as 0 in means over labels.
void measure_text(const std::vector<std::string>& labels, const Labelling& text, Statistics& statistics);

}  // namespace encore::multilabel
