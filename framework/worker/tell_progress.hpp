// SPDX-License-Identifier: BSD-3-Clause
// tell_progress() reports to the control program how far a verb is with its answer.
#pragma once

#include "infer/evaluator.hpp"
#include "record/answer_progress.hpp"

namespace encore {

/// Writes to the standard output, before the answer, a few times a second.
void tell_progress(const AnswerProgress& progress);

/// Does the same for an evaluation.
EvaluationWatch telling_progress();

}  // namespace encore
