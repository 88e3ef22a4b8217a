// SPDX-License-Identifier: BSD-3-Clause
// Job: one request to a model, and the answers as they arrive. Place in the flow: service.cpp makes
// one, batcher.hpp queues its inputs, model_pool.cpp fills in the answers of the workers.
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
  record::ServeWork work = record::ServeWork::answer;
  bool allowed = false;   ///< as in ServeItem
  bool observed = false;  ///< the same
  bool scored = false;    ///< the same
  std::vector<std::string> texts = {};
  ServeClock::time_point arrived = {};
  ServeClock::time_point deadline = ServeClock::time_point::max();  ///< without all answers by then it fails
  std::vector<record::ServeAnswer> answers = {};                    ///< by input
  std::size_t open = 0;                                             ///< inputs without an answer
  std::string failure = {};  ///< why it has no answers; "": it has them, or is not over
  bool over = false;         ///< `ended` was called, or the client is gone
  std::size_t sent = 0;      ///< bytes of the parts that were passed on
  std::function<void(std::string_view part)> part = {};  ///< for generated text that is sent as it grows
  std::function<void()> ended = {};                      ///< once: all inputs are answered, or it has failed
};

}  // namespace encore::serve
