// SPDX-License-Identifier: BSD-3-Clause
// ModelPool: one model with its queue and its workers. It sends batches, fills jobs with answers, and ends
// each job: the inputs of a worker that ended go to another worker once, alone; a job that is late, or whose
// input has ended two workers, fails with the reason. Workers that end are started again. Every job must end
// exactly once. Place in the flow: service.cpp submits jobs -> here -> WorkerLink, all on the loop's thread.
// Read next: batcher.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "serve/batcher.hpp"
#include "serve/metrics.hpp"
#include "serve/worker_link.hpp"

namespace encore::serve {

struct PoolRules {
  BatchRules batch = {};
  /// A worker without an answer this long after the deadline of its inputs is killed.
  std::chrono::milliseconds grace = std::chrono::seconds(10);
  std::function<void(const std::string& text)> noticed = {};  ///< as ServeOptions::noticed
};

/// Must be held by a std::shared_ptr.
class ModelPool : public std::enable_shared_from_this<ModelPool> {
 public:
  /// Makes a worker for each of `seats`. `metrics` must outlive it.
  ModelPool(boost::asio::io_context& loop, std::string name, std::vector<ServeWorkerStart> seats,
            const PoolRules& rules, ModelMetrics& metrics);

  /// Starts the workers. `first_ready` is called once, with the model; `cannot_start` if a worker that has
  /// never been ready ends with an error of its own, before another one was ready.
  void start(std::function<void()> first_ready, std::function<void(const std::string& why)> cannot_start);

  const std::string& name() const { return name_; }
  /// The model that its workers have loaded; empty before the first is ready.
  const std::optional<record::ServeModel>& model() const { return model_; }
  bool ready() const { return ready_workers() > 0; }
  std::size_t ready_workers() const {
    return static_cast<std::size_t>(std::ranges::count(seats_, true, &Seat::ready));
  }
  std::size_t waiting_texts() const { return batcher_.size(); }
  /// Returns whether no client waits for an answer of this model.
  bool idle() const { return jobs_.empty(); }
  /// Returns whether a request with this number of inputs may be submitted.
  bool has_room(std::size_t texts) const { return batcher_.has_room(texts); }
  /// Returns whether an input of the job has recently ended two workers. The job must then be refused, so
  /// that one input does not take the workers from all others again and again.
  bool ends_workers(const Job& job);
  /// Queues a job; the queue must have room for it.
  void submit(const std::shared_ptr<Job>& job);
  /// Drops a job whose client is gone.
  void cancel(const std::shared_ptr<Job>& job);

 private:
  /// The place of one worker, which is started again when it ends.
  struct Seat {
    ServeWorkerStart start;                 ///< how its worker is started
    std::unique_ptr<WorkerLink> link = {};  ///< to its worker; null: none runs now
    bool ready = false, answered = false;
    int failures = 0;  ///< starts without an answer, one after the other
    /// Inputs that its worker computes now, keyed by their id.
    std::map<std::uint64_t, Waiting> in_hands = {};
    ServeClock::time_point given = {};  ///< time of its newest batch

    bool has_long_text() const {
      return std::ranges::any_of(in_hands, [](const auto& each) { return each.second.is_long(); });
    }
  };

  void start_worker(Seat& seat);
  void start_later(const Seat& seat);
  void worker_ready(Seat& seat, record::ServeModel model);
  void worker_answered(Seat& seat, record::ServeAnswers answers);
  void worker_ended(Seat& seat, const runner::ProcessEnd& end, const std::string& why);
  void give_back(Seat& seat, const std::string& why);
  void hand_out();
  void notice(const std::string& text) const;
  /// Long inputs leave one worker for the short ones if there are several.
  Batcher::Take may_take() const;
  void give(Seat& seat, std::vector<Waiting> batch);
  /// Calls `work` when the timer has run out, unless the pool is gone by then: a handler may still be in the
  /// queue of the loop.
  void wait_for(boost::asio::steady_timer& timer, std::function<void()> work);
  void look_at_deadlines();
  void wait_for_deadlines();
  void fail(Job& job, const std::string& why);
  void remember_end(const Waiting& text);

  /// An input that has ended two workers.
  struct Ender {
    std::string digest;            ///< of the input
    ServeClock::time_point until;  ///< end of the refusal
  };

  boost::asio::io_context& loop_;
  std::string name_;
  PoolRules rules_;
  ModelMetrics& metrics_;
  std::vector<Seat> seats_;
  Batcher batcher_;
  std::vector<std::shared_ptr<Job>> jobs_;  ///< that are not over
  boost::asio::steady_timer batch_due_, deadlines_;
  std::vector<std::unique_ptr<boost::asio::steady_timer>> restarts_;  ///< by seat
  std::optional<record::ServeModel> model_;
  std::function<void()> first_ready_;
  std::function<void(const std::string&)> cannot_start_;
  std::deque<Ender> enders_;  ///< the oldest first
  std::uint64_t next_id_ = 1;
};

}  // namespace encore::serve
