#include "serve/batcher.hpp"

#include <utility>

namespace encore {
namespace {

/// A batch that has so many bytes takes no further text: its last text must not wait for all others to be
/// cut.
constexpr std::size_t most_batch_bytes = std::size_t{64} << 10;
/// Cutting so many bytes takes a worker about as long as it takes to compute a short text.
constexpr std::size_t bytes_of_a_short_text = std::size_t{4} << 10;

std::uint64_t cost_of(const Waiting& text) {
  return 1 + text.bytes() / bytes_of_a_short_text;
}

bool goes_alone(const Waiting& text) {
  return text.again || text.is_long() || text.job->work == ServeWork::writing;
}

}  // namespace

void Batcher::add(const std::shared_ptr<Job>& job, ServeClock::time_point now) {
  Turn turn = turn_;
  for (std::size_t i = 0; i < job->texts.size(); ++i) {
    Waiting text{.job = job, .text = i, .since = now};
    turn += cost_of(text);
    (text.is_long() ? long_ : short_).emplace(turn, std::move(text));
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

Batcher::Queue* Batcher::next(Take what) {
  drop_over();
  const bool has_long = what == Take::any_text && !long_.empty();
  if (has_long && (short_.empty() || long_.begin()->first < short_.begin()->first)) return &long_;
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
  Queue* const queue = next(what);
  if (queue == nullptr) return {};
  const bool full = short_.size() >= rules_.texts && queue == &short_;
  if (!full && (in_hands > 0 || !(goes_alone(queue->begin()->second) || now - oldest(what) >= rules_.wait)))
    return {};
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

ServeClock::time_point Batcher::oldest(Take what) const {
  ServeClock::time_point oldest = ServeClock::time_point::max();
  for (const Queue* queue : {&short_, &long_})
    if (queue == &short_ || what == Take::any_text)
      for (const auto& [turn, text] : *queue)
        if (!text.job->over) oldest = std::min(oldest, text.since);
  return oldest;
}

std::optional<ServeClock::time_point> Batcher::due(Take what) {
  drop_over();
  if (!again_.empty()) return again_.front().since;
  const Queue* const queue = next(what);
  if (queue == nullptr) return {};
  const Waiting& first = queue->begin()->second;
  if (goes_alone(first) || short_.size() >= rules_.texts) return first.since;
  return oldest(what) + rules_.wait;
}

}  // namespace encore
