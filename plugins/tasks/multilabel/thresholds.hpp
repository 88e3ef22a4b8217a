// SPDX-License-Identifier: BSD-3-Clause
// best_threshold() finds, for one label, the probability above which an input gets the label, so that F1 on
// the development set is best. The other functions write the thresholds of all labels as text, which a run
// stores, and read them again. Multilabel::tune calls them. The form of the text must not change.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore::multilabel {

/// The probability of a label for one text, and whether the text has the label.
using Judged = std::pair<float, bool>;

/// Returns the threshold with the best F1 of `probability > threshold`, halfway between two adjacent
/// probabilities. Of equally good ones it takes the nearest to `usual`, then the larger. Returns `usual` if
/// no text has the label.
float best_threshold(std::vector<Judged> texts, float usual);

/// Returns a line such as "0.31 joy" for each label, from which equal bits are read back.
std::string thresholds_text(const std::vector<float>& thresholds, const std::vector<std::string>& labels);
/// Reads the thresholds of these labels. Throws Error if the text is for other labels.
std::vector<float> thresholds_from_text(std::string_view text, const std::vector<std::string>& labels);

}  // namespace encore::multilabel
