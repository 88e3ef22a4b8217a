// The answer to a question: the best span of all windows of its context, as a part of the text, or none.
// Place in the flow: scores of the model's rows -> here -> measures, predictions and what a user is shown.
#pragma once

#include <cstddef>
#include <optional>

#include <encore/task.hpp>

namespace encore::qa {

class Columns;

/// The answer: a part of the context, or none.
struct Answer {
  std::optional<TextSpan> span;
  double probability = 0.0;  ///< that of its first row times that of its last one, within its window
  double null_lead = 0.0;    ///< by how much the scores of [CLS] are above those of the best part
  double best_score = 0.0;   ///< of the best part, whether it is given or not
};

/// Returns the answer. outputs: "spans", (T, 2) start and end score of each row of a window. `longest`: the
/// most rows of an answer. With `none_above` a question may have no answer: none is given if the scores of
/// [CLS], at their least over all windows, exceed those of the best part by more than that.
Answer find_answer(const Columns& in, std::size_t example, const Outputs& outputs, std::size_t longest,
                   std::optional<double> none_above);

/// Returns the probability of an answer among all possible ones: a softmax over the parts of the context of
/// at most `longest` rows, each with its best score over the windows that hold it. If a question may have no
/// answer (`none_is_one`), the softmax includes that, with the least scores of [CLS] over all windows.
/// Without any possible answer, the empty one has probability 1.
double score_of(const Columns& in, std::size_t example, const Outputs& outputs, std::size_t longest,
                bool none_is_one, const Answer& given);

}  // namespace encore::qa
