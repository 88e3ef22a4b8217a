// Batcher: the bounded queue of a model's texts, and which of them are computed together when. A batch leaves
// for a worker that has nothing to do when it is full or its oldest text has waited long enough; for one that
// is at work only when it is full, so that such a worker need not wait for its next batch. Time is an
// argument: it reads no clock. Place in the flow: model_pool.cpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "serve/job.hpp"

namespace encore {

struct BatchRules {
  std::size_t texts = 32;             ///< of a full batch
  std::chrono::microseconds wait{0};  ///< of the oldest text while a worker is idle, at most
  std::size_t queue = 1024;           ///< texts that may wait
};

/// One text of a job.
struct Waiting {
  std::shared_ptr<Job> job;
  std::size_t text = 0;  ///< its number in the job
  bool again = false;    ///< a worker has ended with it in its hands
  std::size_t seen = 0;  ///< bytes of its parts that its worker has sent
  ServeClock::time_point since = {};
};

class Batcher {
 public:
  explicit Batcher(const BatchRules& rules) : rules_(rules) {}

  /// Whether so many more texts may wait.
  bool has_room(std::size_t texts) const { return queue_.size() + texts <= rules_.queue; }
  void add(const std::shared_ptr<Job>& job, ServeClock::time_point now);
  /// In front of all others; it goes alone then, so that a text that ends workers takes no others with it.
  void add_again(Waiting text);
  /// What leaves now for a worker that has `in_hands` texts; empty: nothing yet.
  std::vector<Waiting> take(std::size_t in_hands, ServeClock::time_point now);
  /// When take() has something for a worker without work at the latest; nothing while nobody waits.
  std::optional<ServeClock::time_point> due();
  /// Texts that wait, with those whose jobs are over meanwhile.
  std::size_t size() const { return queue_.size(); }

 private:
  void drop_over();
  static bool goes_alone(const Waiting& text) { return text.again || text.job->work == ServeWork::writing; }

  BatchRules rules_;
  std::deque<Waiting> queue_;
};

}  // namespace encore
