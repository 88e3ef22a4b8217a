// SPDX-License-Identifier: BSD-3-Clause
// ModelPool: starts the workers of one model, sends them batches, passes their answers to jobs, and restarts
// workers that end. service.cpp submits jobs; worker_link.hpp reports what a worker sends. Every job must end
// exactly once: with all answers, or with a failure. Read model_pool.hpp first.
#include "serve/model_pool.hpp"

#include <algorithm>
#include <utility>

#include "base/sha256.hpp"

namespace encore::serve {
namespace {

/// The time between two checks of deadlines.
constexpr std::chrono::milliseconds deadline_interval{50};
/// The time between two starts of a worker that never answers.
constexpr std::chrono::milliseconds first_pause{100}, longest_pause{10000};

/// An input that has ended two workers is refused for this time; not forever, because the workers may have
/// ended for another reason.
constexpr std::chrono::seconds time_of_an_ender{60};
constexpr std::size_t most_enders = 1024;

std::string digest_of(const Job& job, std::size_t text) {
  return std::to_string(static_cast<int>(job.work)) + sha256(job.texts[text]);
}

std::chrono::milliseconds pause_after(int failures) {
  std::chrono::milliseconds pause = first_pause;
  for (int i = 1; i < failures && pause < longest_pause; ++i) pause *= 2;
  return std::min(pause, longest_pause);
}

double seconds_between(ServeClock::time_point begin, ServeClock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

void end_job(Job& job) {
  job.over = true;
  if (job.ended) std::exchange(job.ended, {})();
}

}  // namespace

ModelPool::ModelPool(boost::asio::io_context& loop, std::string name, std::vector<ServeWorkerStart> seats,
                     const PoolRules& rules, ModelMetrics& metrics)
    : loop_(loop),
      name_(std::move(name)),
      rules_(rules),
      metrics_(metrics),
      batcher_(rules.batch),
      batch_due_(loop),
      deadlines_(loop) {
  for (ServeWorkerStart& start : seats) {
    seats_.push_back({.start = std::move(start)});
    restarts_.push_back(std::make_unique<boost::asio::steady_timer>(loop));
  }
}

void ModelPool::start(std::function<void()> first_ready,
                      std::function<void(const std::string& why)> cannot_start) {
  first_ready_ = std::move(first_ready);
  cannot_start_ = std::move(cannot_start);
  for (Seat& seat : seats_) start_worker(seat);
  wait_for_deadlines();
}

void ModelPool::notice(const std::string& text) const {
  if (rules_.noticed) rules_.noticed(text);
}

// --- workers ---

void ModelPool::start_worker(Seat& seat) {
  seat.ready = seat.answered = false;
  const auto index = static_cast<std::size_t>(&seat - seats_.data());
  const auto here = [this, index]() -> Seat& { return seats_[index]; };
  try {
    seat.link = std::make_unique<WorkerLink>(
        loop_, seat.start,
        WorkerLinkEvents{
            .ready = [this, here](record::ServeModel model) { worker_ready(here(), std::move(model)); },
            .answered = [this,
                         here](record::ServeAnswers answers) { worker_answered(here(), std::move(answers)); },
            .ended = [this, here](const runner::ProcessEnd& end,
                                  const std::string& why) { worker_ended(here(), end, why); }});
  } catch (const Error& error) {
    worker_ended(seat, runner::ProcessEnd{.exit_code = 1}, error.what());
  }
}

void ModelPool::worker_ready(Seat& seat, record::ServeModel model) {
  if (model_ && model.digest != model_->digest) {
    // Answers of two versions of a model must not be mixed under one name.
    notice("the weights of " + name_ +
           " have changed since exp serve was started; a worker that has read the new ones is not used. "
           "Send SIGHUP to exp serve to load them");
    seat.link->kill();
    return;
  }
  seat.ready = true;
  if (!model_) {
    for (const std::string& note : model.notes) notice(name_ + ": " + note);
    model_ = std::move(model);
    cannot_start_ = {};
    if (first_ready_) std::exchange(first_ready_, {})();
  }
  hand_out();
}

void ModelPool::worker_ended(Seat& seat, const runner::ProcessEnd& end, const std::string& why) {
  seat.link.reset();
  seat.ready = false;
  ++metrics_.ends;
  if (cannot_start_ && end.signal == 0) return std::exchange(cannot_start_, {})(why);
  notice("a worker of " + name_ + ": " + why + "; another one is started");
  give_back(seat, why);
  seat.failures = seat.answered ? 0 : seat.failures + 1;
  if (seat.failures == 0)
    start_worker(seat);
  else
    start_later(seat);
  hand_out();
}

void ModelPool::start_later(const Seat& seat) {
  const auto index = static_cast<std::size_t>(&seat - seats_.data());
  restarts_[index]->expires_after(pause_after(seat.failures));
  wait_for(*restarts_[index], [this, index] { start_worker(seats_[index]); });
}

void ModelPool::wait_for(boost::asio::steady_timer& timer, std::function<void()> work) {
  timer.async_wait(
      [weak = weak_from_this(), work = std::move(work)](const boost::system::error_code& stopped) {
        if (const auto alive = weak.lock(); alive && !stopped) work();
      });
}

/// Puts the inputs of a worker that has ended back at the front of the queue, in their order. Fails the job
/// of an input that has ended a second worker.
void ModelPool::give_back(Seat& seat, const std::string& why) {
  for (auto text = seat.in_hands.rbegin(); text != seat.in_hands.rend(); ++text) {
    Waiting& waiting = text->second;
    if (waiting.job->over) continue;
    if (waiting.again) {
      ++metrics_.lost;
      remember_end(waiting);
      fail(*waiting.job, "two workers have ended while they computed this (" + why + ")");
    } else {
      ++metrics_.again;
      waiting.seen = 0;
      batcher_.add_again(std::move(waiting));
    }
  }
  seat.in_hands.clear();
}

void ModelPool::remember_end(const Waiting& text) {
  enders_.push_back(
      {.digest = digest_of(*text.job, text.text), .until = ServeClock::now() + time_of_an_ender});
  if (enders_.size() > most_enders) enders_.pop_front();
}

bool ModelPool::ends_workers(const Job& job) {
  while (!enders_.empty() && enders_.front().until <= ServeClock::now()) enders_.pop_front();
  if (enders_.empty()) return false;  // no digest is computed
  for (std::size_t i = 0; i < job.texts.size(); ++i) {
    if (std::ranges::find(enders_, digest_of(job, i), &Ender::digest) == enders_.end()) continue;
    ++metrics_.lost;
    return true;
  }
  return false;
}

// --- inputs ---

void ModelPool::submit(const std::shared_ptr<Job>& job) {
  job->answers.resize(job->texts.size());
  job->open = job->texts.size();
  if (job->open == 0) return end_job(*job);
  jobs_.push_back(job);
  batcher_.add(job, ServeClock::now());
  hand_out();
}

void ModelPool::cancel(const std::shared_ptr<Job>& job) {
  job->over = true;
  std::erase(jobs_, job);
  if (job->work != record::ServeWork::writing) return;  // nothing else takes long
  for (Seat& seat : seats_)
    for (const auto& [id, waiting] : seat.in_hands)
      if (waiting.job == job && seat.link) seat.link->send(record::ServeCancel{.id = id});
}

Batcher::Take ModelPool::may_take() const {
  std::size_t ready = 0, with_long = 0;
  for (const Seat& seat : seats_)
    if (seat.ready) {
      ++ready;
      with_long += seat.has_long_text() ? 1 : 0;
    }
  return ready == 1 || with_long + 1 < ready ? Batcher::Take::any_text : Batcher::Take::short_texts;
}

void ModelPool::hand_out() {
  const ServeClock::time_point now = ServeClock::now();
  std::vector<Seat*> order;
  for (Seat& seat : seats_)
    if (seat.ready && !seat.has_long_text()) order.push_back(&seat);
  std::ranges::stable_sort(order, {}, [](const Seat* seat) { return seat->in_hands.size(); });
  bool idle = false;
  for (Seat* seat : order) {
    std::vector<Waiting> batch = batcher_.take(seat->in_hands.size(), now, may_take());
    idle = idle || (batch.empty() && seat->in_hands.empty());
    if (!batch.empty()) give(*seat, std::move(batch));
  }
  const std::optional<ServeClock::time_point> due = batcher_.due(may_take());
  if (!idle || !due) return;
  batch_due_.expires_at(*due);
  wait_for(batch_due_, [this] { hand_out(); });
}

void ModelPool::give(Seat& seat, std::vector<Waiting> batch) {
  record::ServeBatch message;
  ++metrics_.batches;
  metrics_.batch_texts.add(static_cast<double>(batch.size()));
  for (Waiting& waiting : batch) {
    const Job& job = *waiting.job;
    metrics_.wait_seconds.add(seconds_between(waiting.since, ServeClock::now()));
    message.items.push_back({.id = next_id_,
                             .work = job.work,
                             .allowed = job.allowed,
                             .observed = job.observed,
                             .scored = job.scored,
                             .text = job.texts[waiting.text]});
    seat.in_hands.emplace(next_id_++, std::move(waiting));
  }
  seat.given = ServeClock::now();
  seat.link->send(message);
}

void ModelPool::worker_answered(Seat& seat, record::ServeAnswers answers) {
  seat.answered = true;
  for (record::ServeAnswer& answer : answers.answers) {
    const auto found = seat.in_hands.find(answer.id);
    if (found == seat.in_hands.end()) continue;
    const std::shared_ptr<Job> job = found->second.job;
    if (answer.outcome == record::ServeOutcome::part) {
      // A text that another worker has begun is sent again from its first byte.
      std::size_t& seen = found->second.seen;
      const std::size_t known = std::min(answer.text.size(), job->sent - std::min(job->sent, seen));
      seen += answer.text.size();
      job->sent = std::max(job->sent, seen);
      if (!job->over && job->part && known < answer.text.size())
        job->part(std::string_view(answer.text).substr(known));
      continue;
    }
    const std::size_t text = found->second.text;
    if (found->second.is_long()) batcher_.long_text_ended(seat.given, ServeClock::now());
    seat.in_hands.erase(found);
    if (job->over) continue;
    metrics_.tokens += static_cast<std::uint64_t>(answer.tokens);
    ++metrics_.texts;
    job->answers[text] = std::move(answer);
    if (--job->open > 0) continue;
    std::erase(jobs_, job);
    end_job(*job);
  }
  hand_out();
}

// --- deadlines ---

void ModelPool::fail(Job& job, const std::string& why) {
  job.failure = why;
  std::erase_if(jobs_, [&](const auto& each) { return each.get() == &job; });
  end_job(job);
}

void ModelPool::look_at_deadlines() {
  const ServeClock::time_point now = ServeClock::now();
  const std::vector<std::shared_ptr<Job>> jobs = jobs_;
  for (const std::shared_ptr<Job>& job : jobs) {
    if (job->over || now < job->deadline) continue;
    ++metrics_.late;
    cancel(job);
    fail(*job, "no answer within the time limit of a request");
  }
  for (Seat& seat : seats_)
    if (seat.link && std::ranges::any_of(seat.in_hands, [&](const auto& each) {
          return now >= each.second.job->deadline + rules_.grace;
        }))
      seat.link->kill();
  hand_out();
}

void ModelPool::wait_for_deadlines() {
  deadlines_.expires_after(deadline_interval);
  wait_for(deadlines_, [this] {
    look_at_deadlines();
    wait_for_deadlines();
  });
}

}  // namespace encore::serve
