// SPDX-License-Identifier: BSD-3-Clause
// The threshold of the option no_answer: a question has no answer if the score of no answer ([CLS]) exceeds
// that of every part of the context by more than the threshold. Qa::tune (qa.cpp) chooses the one with the
// best F1 on the development set. A run stores it as text, whose form must not change.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace encore::qa {

/// A question of the development set that has a possible answer: a part of its context.
struct Judged {
  double lead = 0.0;  ///< score of no answer ([CLS]) minus score of the best part
  double gain = 0.0;  ///< what the sum of F1 gains if the part is the answer, may be below 0
};

/// Returns the threshold that find_best_thresh in SQuAD 2.0's script finds by F1: one pass over the questions
/// by rising lead. Of equally good ones it takes the nearest to `usual`; `usual` if there are no questions.
double best_threshold(std::vector<Judged> questions, double usual);

/// Returns a line such as "-1.5 no_answer_threshold", which a run stores and from which equal bits are read
/// back.
std::string threshold_text(double threshold);
/// Reads such a line. Throws Error if the text is invalid.
double threshold_from_text(std::string_view text);

}  // namespace encore::qa
