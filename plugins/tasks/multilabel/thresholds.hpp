// Thresholds: the probability above which a text gets a label, chosen for each label so that F1 is best on
// the development set; and the text that stores them. Place in the flow: Multilabel::tune -> here.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore::multilabel {

/// The probability that a text has a label, and whether it has it.
using Judged = std::pair<float, bool>;

/// Returns the threshold with the best F1 of `probability > threshold`, halfway between two neighbouring
/// probabilities. Of equally good ones it takes the one nearest to `usual`, then the larger one; `usual` if
/// no text has the label.
float best_threshold(std::vector<Judged> texts, float usual);

/// Writes a line such as "0.31 joy" for each label, which reads back with equal bits.
std::string thresholds_text(const std::vector<float>& thresholds, const std::vector<std::string>& labels);
/// Reads what the text holds for these labels. Throws Error if it is for others.
std::vector<float> thresholds_from_text(std::string_view text, const std::vector<std::string>& labels);

}  // namespace encore::multilabel
