// SPDX-License-Identifier: BSD-3-Clause
// The threshold of no_answer: by how much the score of [CLS] must exceed that of every part of the context.
// The one with the best F1 on the development set is chosen and stored as text. Qa::tune calls it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace encore::qa {

/// A question for which the context has a possible answer.
struct Judged {
  double lead = 0.0;  ///< score of [CLS] minus score of the part
  double gain = 0.0;  ///< what F1 gains if the part is the answer
};

/// Returns the threshold that find_best_thresh in SQuAD 2.0's script finds by F1: one pass over the questions
/// by rising lead. Of equally good ones it takes the nearest to `usual`; `usual` if there are no questions.
double best_threshold(std::vector<Judged> questions, double usual);

/// Returns a line from which equal bits are read back.
std::string threshold_text(double threshold);
/// Reads such a line. Throws Error if the text is invalid.
double threshold_from_text(std::string_view text);

}  // namespace encore::qa
