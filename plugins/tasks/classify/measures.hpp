// What classification reports, as data, and what a text adds to it.
// Place in the flow: a label (truth and prediction) -> measure_text -> Statistics -> the host's reducers.
#pragma once

#include <string_view>
#include <vector>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

namespace encore::classify {

/// Accuracy, the mean of the labels' F1, each label on its own, and which labels are taken for which; as
/// scikit-learn's classification_report counts.
std::vector<Measure> measures();

/// The next example of `statistics`.
void measure_text(std::string_view truth, std::string_view predicted, Statistics& statistics);

}  // namespace encore::classify
