// SPDX-License-Identifier: BSD-3-Clause
// tell_progress(): writes progress lines to the standard output, at most a few times a second, while a verb
// computes its answer. Read tell_progress.hpp first.
#include "worker/tell_progress.hpp"

#include <chrono>
#include <ostream>

#include "worker/answers.hpp"

namespace encore::worker {

void tell_progress(const record::AnswerProgress& progress) {
  using Clock = std::chrono::steady_clock;
  constexpr auto interval = std::chrono::milliseconds(100);
  static Clock::time_point next = Clock::now();
  if (Clock::now() < next) return;
  next = Clock::now() + interval;
  answer_stream() << progress.line() << std::endl;
}

infer::EvaluationWatch telling_progress() {
  return [](const infer::EvaluationProgress& progress) {
    tell_progress({.what = progress.writes ? "written" : "scored",
                   .unit = progress.writes ? "texts" : "sequences",
                   .done = progress.done,
                   .all = progress.all});
  };
}

}  // namespace encore::worker
