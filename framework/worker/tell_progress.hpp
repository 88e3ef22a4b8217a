// SPDX-License-Identifier: BSD-3-Clause
// Progress lines of verbs that work for long (embed, evaluate, quantize). exp reads them from the worker's
// output before the answer and shows them to the user. record/answer_progress.hpp has the form.
#pragma once

#include "infer/evaluator.hpp"
#include "record/answer_progress.hpp"

namespace encore::worker {

/// Writes a progress line to the standard output, at most a few times a second.
void tell_progress(const record::AnswerProgress& progress);

/// Returns a function that writes progress lines during an evaluation.
infer::EvaluationWatch telling_progress();

}  // namespace encore::worker
