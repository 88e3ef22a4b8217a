// Thresholds: above which probability a text gets a label, chosen label by label so that F1 is best on the
// development set; and the text in which they are kept. Place in the flow: Multilabel::tune -> here.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore::multilabel {

/// Of a text: its probability of a label, and whether it has it.
using Judged = std::pair<float, bool>;

/// The threshold with the best F1 of `probability > threshold`, halfway between two neighbouring
/// probabilities. Of equals the one that is nearest to `usual`, then the larger one; `usual` where no text
/// has the label.
float best_threshold(std::vector<Judged> texts, float usual);

/// A line "0.31 joy" for each label, which reads back with equal bits.
std::string thresholds_text(const std::vector<float>& thresholds, const std::vector<std::string>& labels);
/// Throws Error where the text is not one of these labels.
std::vector<float> thresholds_from_text(std::string_view text, const std::vector<std::string>& labels);

}  // namespace encore::multilabel
