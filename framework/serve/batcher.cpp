// SPDX-License-Identifier: BSD-3-Clause
// Batcher: orders the inputs of one model by fair queueing, holds long inputs back for a while, and forms the
// batch that a worker receives. model_pool.cpp calls it. The order of the turns decides the latency of short
// requests, so a change of it must pass tests/unit/serve/batcher_test.cpp. Read batcher.hpp first.
#include "serve/batcher.hpp"

#include <utility>

namespace encore::serve {
namespace {

/// A batch of this size takes no further input: its last input must not wait until all others are tokenized.
constexpr std::size_t most_batch_bytes = std::size_t{64} << 10;
/// Tokenizing this number of bytes takes a worker about as long as computing a short input.
constexpr std::size_t bytes_of_a_short_text = std::size_t{4} << 10;
/// The time between two long inputs, as a multiple of the time that the first of them took.
constexpr int rests_per_long_input = 3;
/// Long inputs rest if a short one has come within this time.
constexpr std::chrono::seconds memory_of_short_inputs{1};

std::uint64_t cost_of(const Waiting& text) {
  return 1 + text.bytes() / bytes_of_a_short_text;
}

bool goes_alone(const Waiting& text) {
  return text.again || text.is_long() || text.job->work == record::ServeWork::writing;
}

}  // namespace

void Batcher::add(const std::shared_ptr<Job>& job, ServeClock::time_point now) {
  Turn turn = turn_;
  for (std::size_t i = 0; i < job->texts.size(); ++i) {
    Waiting text{.job = job, .text = i, .since = now};
    turn += cost_of(text);
    const bool is_long = text.is_long();
    if (!is_long) short_came_ = now;
    (is_long ? long_ : short_).emplace(turn, std::move(text));
  }
  if (job->texts.size() == 1) ++single_;
}

void Batcher::add_again(Waiting text) {
  text.again = true;
  again_.push_front(std::move(text));
}

Waiting Batcher::pop(Queue& queue) {
  auto first = queue.extract(queue.begin());
  if (first.mapped().job->texts.size() == 1) --single_;
  return std::move(first.mapped());
}

void Batcher::drop_over(Queue& queue) {
  while (!queue.empty() && queue.begin()->second.job->over) pop(queue);
}

void Batcher::drop_over() {
  while (!again_.empty() && again_.front().job->over) again_.pop_front();
  drop_over(short_);
  drop_over(long_);
}

void Batcher::long_text_ended(ServeClock::time_point begin, ServeClock::time_point end) {
  if (short_came_ + memory_of_short_inputs >= end)
    long_may_leave_ = end + rests_per_long_input * (end - begin);
}

bool Batcher::long_is_first(Take what) const {
  return what == Take::any_text && !long_.empty() &&
         (short_.empty() || long_.begin()->first < short_.begin()->first);
}

Batcher::Queue* Batcher::next(Take what, ServeClock::time_point now) {
  if (long_is_first(what) && now >= long_may_leave_) return &long_;
  return short_.empty() ? nullptr : &short_;
}

std::vector<Waiting> Batcher::take(std::size_t in_hands, ServeClock::time_point now, Take what) {
  drop_over();
  if (in_hands > rules_.texts) return {};
  if (!again_.empty()) {
    if (in_hands > 0) return {};
    std::vector<Waiting> alone = {std::move(again_.front())};
    again_.pop_front();
    return alone;
  }
  Queue* const queue = next(what, now);
  if (queue == nullptr) return {};
  const bool full = short_.size() >= rules_.texts && queue == &short_;
  if (!full && (in_hands > 0 || now < due(*queue))) return {};
  std::vector<Waiting> batch;
  std::size_t bytes = 0;
  while (!queue->empty() && batch.size() < rules_.texts && bytes < most_batch_bytes) {
    if (!batch.empty() && (goes_alone(queue->begin()->second) || goes_alone(batch.front()))) break;
    turn_ = std::max(turn_, queue->begin()->first);
    batch.push_back(pop(*queue));
    bytes += batch.back().bytes();
    drop_over(*queue);
  }
  return batch;
}

ServeClock::time_point Batcher::due(const Queue& queue) const {
  const Waiting& first = queue.begin()->second;
  if (&queue == &long_) return std::max(first.since, long_may_leave_);
  if (goes_alone(first) || queue.size() >= rules_.texts) return first.since;
  ServeClock::time_point oldest = ServeClock::time_point::max();
  for (const auto& [turn, text] : queue)
    if (!text.job->over) oldest = std::min(oldest, text.since);
  return oldest + rules_.wait;
}

std::optional<ServeClock::time_point> Batcher::due(Take what) {
  drop_over();
  if (!again_.empty()) return again_.front().since;
  if (!long_is_first(what)) return short_.empty() ? std::nullopt : std::optional(due(short_));
  return short_.empty() ? due(long_) : std::min(due(long_), due(short_));
}

}  // namespace encore::serve
