// SPDX-License-Identifier: BSD-3-Clause
// Job: one request to a model, and the answers as they arrive. Place in the flow: service.cpp makes one,
// batcher.hpp queues its inputs, model_pool.cpp fills in the answers of the workers and calls `ended`. All of
// it happens on the thread of the loop. A job must end exactly once: `over` is set before `ended` is called,
// and nothing changes the job afterwards.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "record/serve_messages.hpp"

namespace encore::serve {

using ServeClock = std::chrono::steady_clock;

struct Job {
  record::ServeWork work = record::ServeWork::answer;  ///< what is computed for each input
  bool allowed = false;   ///< inputs that are too long are cut, or generated text is sent as it grows
  bool observed = false;  ///< the worker also reports the facts that the monitor stores
  bool scored = false;    ///< answers have probabilities
  /// The inputs; for ServeWork::writing one GenerateRequest with all prompts.
  std::vector<std::string> texts = {};
  ServeClock::time_point arrived = {};  ///< when the request was complete
  /// The job fails if answers are still missing by then.
  ServeClock::time_point deadline = ServeClock::time_point::max();
  std::vector<record::ServeAnswer> answers = {};  ///< by input
  std::size_t open = 0;                           ///< inputs without an answer
  std::string failure = {};  ///< the reason why it has no answers; "": it has them, or is not over
  bool over = false;         ///< `ended` was called, or the client is gone
  std::size_t sent = 0;      ///< bytes of the parts that were passed on
  /// Called for each new part of generated text, if it is streamed.
  std::function<void(std::string_view part)> part = {};
  std::function<void()> ended = {};  ///< called once, when all inputs are answered or the job has failed
};

}  // namespace encore::serve
