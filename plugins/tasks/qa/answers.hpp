// The answer to a question: the best span of all windows of its context, as a part of the text, or none.
// Place in the flow: scores of the model's rows -> here -> measures, predictions and what a user is shown.
#pragma once

#include <cstddef>
#include <optional>

#include <encore/task.hpp>

namespace encore::qa {

class Columns;

/// A part of the context, or none.
struct Answer {
  std::optional<TextSpan> span;
  double probability = 0.0;  ///< of its first row times that of its last one, within its window
  double null_lead = 0.0;    ///< by how much the scores of [CLS] are above those of the best part
  double best_score = 0.0;   ///< of the best part, whether it is given or not
};

/// outputs: "spans", (T, 2) start and end score of each row of a window. `longest`: rows of an answer at
/// most. With `none_above` a question may have no answer: none is given where the scores of [CLS], in the
/// window that is least sure of them, are above those of the best part by more than that.
Answer find_answer(const Columns& in, std::size_t example, const Outputs& outputs, std::size_t longest,
                   std::optional<double> none_above);

/// The probability of an answer among all that could have been given: a softmax over the parts of the context
/// that are at most `longest` rows long, each with the best of its scores in the windows that hold it, and
/// where a question may have no answer (`none_is_one`) over that too, with the scores of [CLS] in the window
/// that is least sure of them. Where there is nothing to choose from, no answer has 1.
double score_of(const Columns& in, std::size_t example, const Outputs& outputs, std::size_t longest,
                bool none_is_one, const Answer& given);

}  // namespace encore::qa
