// The threshold of no_answer: by how much the scores of [CLS] must exceed those of every part of the context.
// It is chosen so that F1 is best on the development set, and stored as text. Place in the flow: Qa::tune ->
// here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace encore::qa {

/// A question for which the context has a possible answer.
struct Judged {
  double lead = 0.0;  ///< of the scores of [CLS] over those of the part
  double gain = 0.0;  ///< what F1 gains if the part is given as the answer
};

/// Returns the threshold that find_best_thresh of the script of SQuAD 2.0 finds, by F1: one pass over the
/// questions by rising lead. Of equally good ones it takes the one nearest to `usual`; `usual` without
/// questions.
double best_threshold(std::vector<Judged> questions, double usual);

/// Writes a line that reads back with equal bits.
std::string threshold_text(double threshold);
/// Reads such a line. Throws Error if the text is invalid.
double threshold_from_text(std::string_view text);

}  // namespace encore::qa
