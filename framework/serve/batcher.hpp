// Batcher: the bounded queue of a model's texts, and which of them are computed together when. A batch leaves
// for a worker that has nothing to do when it is full or its oldest text has waited long enough; for one that
// is at work only when it is full, so that such a worker need not wait for its next batch.
//
// Order: self-clocked fair queueing (Golestani, "A self-clocked fair queueing scheme for broadband
// applications", INFOCOM 1994), each request a flow. A text's turn is the turn of the text that left last
// plus the cost of its request up to and including it; the smallest turn leaves first. So the one text of a
// request waits neither for the thousand texts of another one nor for a text of a megabyte, and both of those
// get their turn all the same. First come, first served was tried: an open server under long texts let honest
// clients wait three times as long.
//
// Time is an argument: it reads no clock. Place in the flow: model_pool.cpp.
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

  std::size_t bytes() const { return job->texts[text].size(); }
  /// Cutting it takes a worker so long that it goes alone, and that a worker should stay free for others.
  bool is_long() const { return job->work != ServeWork::writing && bytes() > long_text_bytes; }

  static constexpr std::size_t long_text_bytes = std::size_t{16} << 10;
};

class Batcher {
 public:
  /// What a batch may hold.
  enum class Take { any_text, short_texts };

  explicit Batcher(const BatchRules& rules) : rules_(rules) {}

  /// Whether a request with so many texts may wait. A request with one text does not compete for room with
  /// the texts of requests with several: those may take all of `queue`, and those with one text as many
  /// again.
  bool has_room(std::size_t texts) const {
    return (texts == 1 ? single_ : waiting() - single_) + texts <= rules_.queue;
  }
  void add(const std::shared_ptr<Job>& job, ServeClock::time_point now);
  /// In front of all others; it goes alone then, so that a text that ends workers takes no others with it.
  void add_again(Waiting text);
  /// What leaves now for a worker that has `in_hands` texts; empty: nothing yet.
  std::vector<Waiting> take(std::size_t in_hands, ServeClock::time_point now, Take what = Take::any_text);
  /// When take() has something for a worker without work at the latest; nothing while nobody waits.
  std::optional<ServeClock::time_point> due(Take what = Take::any_text);
  /// Texts that wait, with those whose jobs are over meanwhile.
  std::size_t size() const { return again_.size() + waiting(); }

 private:
  using Turn = std::uint64_t;
  using Queue = std::multimap<Turn, Waiting>;  ///< equal turns: first come, first served

  std::size_t waiting() const { return short_.size() + long_.size(); }
  void drop_over();
  void drop_over(Queue& queue);
  Waiting pop(Queue& queue);
  /// The queue whose first text has its turn; nothing where no text waits.
  Queue* next(Take what);
  ServeClock::time_point oldest(Take what) const;

  BatchRules rules_;
  std::deque<Waiting> again_;
  Queue short_, long_;
  std::size_t single_ = 0;  ///< of those that wait: texts of requests with one text
  Turn turn_ = 0;           ///< of the text that left last
};

}  // namespace encore
