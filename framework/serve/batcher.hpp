// SPDX-License-Identifier: BSD-3-Clause
// Batcher: the bounded queue of a model's inputs, and the choice of those that a worker computes together.
// Place in the flow: model_pool.cpp adds inputs and takes batches. It reads no clock: each call gets the
// time, so that tests are exact. The order of inputs is described at the class; it protects short requests,
// so a change of it must pass tests/unit/serve/batcher_test.cpp. Read next: batcher.cpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "serve/job.hpp"

namespace encore::serve {

struct BatchRules {
  std::size_t texts = 32;             ///< number of inputs in a full batch
  std::chrono::microseconds wait{0};  ///< the longest wait of the oldest input while a worker is idle
  std::size_t queue = 1024;           ///< inputs that may wait
};

/// One input of a job.
struct Waiting {
  std::shared_ptr<Job> job;
  std::size_t text = 0;               ///< its index in the job
  bool again = false;                 ///< a worker ended while it computed this input
  std::size_t seen = 0;               ///< bytes of its partial answers that its worker has sent
  ServeClock::time_point since = {};  ///< time of its arrival

  std::size_t bytes() const { return job->texts[text].size(); }
  /// Returns whether tokenizing the input takes long. A long input is sent alone, and one worker is kept for
  /// short ones if there are several.
  bool is_long() const { return job->work != record::ServeWork::writing && bytes() > long_text_bytes; }

  /// Bytes from which an input is long.
  static constexpr std::size_t long_text_bytes = std::size_t{16} << 10;
};

/// An idle worker gets a batch when the batch is full or its oldest input has waited for BatchRules::wait; a
/// busy worker gets only a full batch, so that its next one is ready when it ends.
///
/// Order: self-clocked fair queueing (Golestani, "A self-clocked fair queueing scheme for broadband
/// applications", INFOCOM 1994), each request a flow. The turn of an input is the turn of the input that was
/// sent last plus the cost of its request up to and including it; the smallest turn is sent first. A request
/// with one input waits neither for a request with a thousand of them nor for an input of a megabyte, and
/// both of those get their turns too. First come, first served was tried: when an open server received long
/// inputs, the latency of honest clients tripled.
///
/// If a short input has come within the last second, long ones take at most a quarter of the time: after a
/// long input, the next one waits three times as long as that one took. The order alone does not help a short
/// input that comes while a long one is computed on the same cores.
class Batcher {
 public:
  /// Which inputs take() may return: all, or only short ones.
  enum class Take { any_text, short_texts };

  explicit Batcher(const BatchRules& rules) : rules_(rules) {}

  /// Returns whether a request with this number of inputs may wait. Requests with one input have room of
  /// their own, as large as that of all others.
  bool has_room(std::size_t texts) const {
    return (texts == 1 ? single_ : waiting() - single_) + texts <= rules_.queue;
  }
  /// Queues the inputs of a job; has_room() must have allowed them.
  void add(const std::shared_ptr<Job>& job, ServeClock::time_point now);
  /// Puts an input before all others, after the worker that computed it has ended. It is sent alone, so that
  /// an input that ends workers does not affect others.
  void add_again(Waiting text);
  /// Returns the batch for a worker that computes `in_hands` inputs now; empty if none is due.
  std::vector<Waiting> take(std::size_t in_hands, ServeClock::time_point now, Take what = Take::any_text);
  /// Call it when a worker has computed a long input, which was sent at `begin`.
  void long_text_ended(ServeClock::time_point begin, ServeClock::time_point end);
  /// Returns the latest time at which take() has a batch for an idle worker; nothing while no input waits.
  std::optional<ServeClock::time_point> due(Take what = Take::any_text);
  /// Returns the number of inputs that wait, including those whose jobs have ended meanwhile.
  std::size_t size() const { return again_.size() + waiting(); }

 private:
  using Turn = std::uint64_t;
  using Queue = std::multimap<Turn, Waiting>;  ///< equal turns: in the order of arrival

  std::size_t waiting() const { return short_.size() + long_.size(); }
  void drop_over();
  void drop_over(Queue& queue);
  Waiting pop(Queue& queue);
  /// Returns whether the next turn is that of a long input, which may have to wait first.
  bool long_is_first(Take what) const;
  /// Returns the queue whose first input is sent next; null if none may be sent.
  Queue* next(Take what, ServeClock::time_point now);
  /// Returns when the first input of a queue, which is not empty, is sent to an idle worker.
  ServeClock::time_point due(const Queue& queue) const;

  BatchRules rules_;
  std::deque<Waiting> again_;
  Queue short_, long_;
  std::size_t single_ = 0;                  ///< inputs that wait and are alone in their request
  Turn turn_ = 0;                           ///< of the input that left last
  ServeClock::time_point short_came_ = {};  ///< arrival of the newest short input
  ServeClock::time_point long_may_leave_ = {};
};

}  // namespace encore::serve
