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
};

/// outputs: "spans", (T, 2) start and end score of each row of a window. `longest`: rows of an answer at
/// most. With `none_above` a question may have no answer: none is given where the scores of [CLS], in the
/// window that is least sure of them, are above those of the best part by more than that.
Answer find_answer(const Columns& in, std::size_t example, const Outputs& outputs, std::size_t longest,
                   std::optional<double> none_above);

}  // namespace encore::qa
