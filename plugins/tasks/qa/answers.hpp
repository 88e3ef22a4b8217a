// SPDX-License-Identifier: BSD-3-Clause
// find_answer(): the answer to a question as a part of its context, the best span of all windows, or no
// answer. qa.cpp calls it with the scores of the rows (head "span") for measures, predictions and answers to
// a user. Scores of stored runs depend on the choice, so its rules must not change.
#pragma once

#include <cstddef>
#include <optional>

#include <encore/task.hpp>

namespace encore::qa {

class Columns;

/// An answer: a part of the context, or none.
struct Answer {
  std::optional<TextSpan> span;
  double probability = 0.0;  ///< product of the probabilities of first and last row, in its window
  double null_lead = 0.0;    ///< score of [CLS] minus score of the best part
  double best_score = 0.0;   ///< of the best part, whether or not it is the answer
};

/// Returns the answer. `outputs`: "spans", (T, 2) start and end score of each row of a window. `longest`: the
/// most rows of an answer. `none_above`: if set, a question may have no answer; none is returned if the score
/// of [CLS], the lowest of all windows, exceeds that of the best part by more than this.
Answer find_answer(const Columns& in, std::size_t example, const Outputs& outputs, std::size_t longest,
                   std::optional<double> none_above);

/// Returns the probability of an answer among all possible ones: a softmax over the parts of the context of
/// at most `longest` rows, each with its best score over the windows that contain it. With `none_is_one`,
/// having no answer is one more possibility, whose score is the lowest score of [CLS] over all windows. If
/// there is no possible answer, the empty one has probability 1.
double score_of(const Columns& in, std::size_t example, const Outputs& outputs, std::size_t longest,
                bool none_is_one, const Answer& given);

}  // namespace encore::qa
