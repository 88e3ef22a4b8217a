// Job: what one request asks of a model, and the answers as they come. Place in the flow: service.cpp makes
// one, batcher.hpp queues its texts, model_pool.cpp fills in what the workers answer.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "record/serve_messages.hpp"

namespace encore {

using ServeClock = std::chrono::steady_clock;

struct Job {
  ServeWork work = ServeWork::answer;
  bool allowed = false;   ///< as in ServeItem
  bool observed = false;  ///< the same
  bool scored = false;    ///< the same
  std::vector<std::string> texts = {};
  ServeClock::time_point arrived = {};
  ServeClock::time_point deadline = ServeClock::time_point::max();  ///< without all answers by then it fails
  std::vector<ServeAnswer> answers = {};                            ///< by text
  std::size_t open = 0;                                             ///< texts without an answer
  std::string failure = {};  ///< why it has no answers; "": it has, or is not over
  bool over = false;         ///< `ended` was called, or nobody waits any more
  std::size_t sent = 0;      ///< bytes of the parts that were passed on
  std::function<void(std::string_view part)> part = {};  ///< of a writing that is sent as it grows
  std::function<void()> ended = {};                      ///< once: all texts are answered, or it has failed
};

}  // namespace encore
