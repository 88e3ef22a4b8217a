// The threshold of no_answer: by how much the scores of [CLS] have to be above those of every part of the
// context, chosen so that F1 is best on the development set; and the text in which it is kept.
// Place in the flow: Qa::tune -> here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace encore::qa {

/// A question for which there is a part to answer with.
struct Judged {
  double lead = 0.0;  ///< of the scores of [CLS] above those of the part
  double gain = 0.0;  ///< what F1 gains where the part is given as the answer
};

/// As find_best_thresh of the script of SQuAD 2.0 does it, by F1: one pass over the questions by rising lead.
/// Of equally good thresholds the one nearest to `usual`; `usual` where there is no question.
double best_threshold(std::vector<Judged> questions, double usual);

/// A line that reads back with equal bits.
std::string threshold_text(double threshold);
/// Throws Error where the text is no such line.
double threshold_from_text(std::string_view text);

}  // namespace encore::qa
