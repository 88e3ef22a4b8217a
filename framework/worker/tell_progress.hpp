// tell_progress: how far a verb is with its answer, for the control program.
#pragma once

#include "infer/evaluator.hpp"
#include "record/answer_progress.hpp"

namespace encore {

/// To the standard output, before the answer; a few times a second.
void tell_progress(const AnswerProgress& progress);

/// The same of an evaluation.
EvaluationWatch telling_progress();

}  // namespace encore
