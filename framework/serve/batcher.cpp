#include "serve/batcher.hpp"

#include <utility>

namespace encore {

void Batcher::add(const std::shared_ptr<Job>& job, ServeClock::time_point now) {
  for (std::size_t i = 0; i < job->texts.size(); ++i) queue_.push_back({.job = job, .text = i, .since = now});
}

void Batcher::add_again(Waiting text) {
  text.again = true;
  queue_.push_front(std::move(text));
}

void Batcher::drop_over() {
  while (!queue_.empty() && queue_.front().job->over) queue_.pop_front();
}

std::vector<Waiting> Batcher::take(std::size_t in_hands, ServeClock::time_point now) {
  drop_over();
  if (queue_.empty() || in_hands > rules_.texts) return {};
  const bool full = queue_.size() >= rules_.texts;
  const bool waited = now - queue_.front().since >= rules_.wait || goes_alone(queue_.front());
  if (!full && (in_hands > 0 || !waited)) return {};
  std::vector<Waiting> batch;
  while (!queue_.empty() && batch.size() < rules_.texts) {
    if (!queue_.front().job->over) {
      if (goes_alone(queue_.front()) && !batch.empty()) break;
      batch.push_back(std::move(queue_.front()));
    }
    queue_.pop_front();
    if (!batch.empty() && goes_alone(batch.front())) break;
  }
  return batch;
}

std::optional<ServeClock::time_point> Batcher::due() {
  drop_over();
  if (queue_.empty()) return {};
  if (goes_alone(queue_.front()) || queue_.size() >= rules_.texts) return queue_.front().since;
  return queue_.front().since + rules_.wait;
}

}  // namespace encore
