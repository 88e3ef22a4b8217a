// SPDX-License-Identifier: BSD-3-Clause
// Recorder: merges an attempt's spool when time demands it, waits only shortly for a lock, and reports a
// lasting problem once. Attempt calls it. Training must never wait for the database: the spool holds
// everything. Read recorder.hpp first.
#include "runner/recorder.hpp"

namespace encore::runner {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto merge_interval = std::chrono::milliseconds(500);
/// The time for which it retries a failing database. For a locked database it waits without limit.
constexpr auto failing_patience = std::chrono::seconds(5);
/// The time for which a database may be busy without a message, since several writers in turn may lock one
/// out for a moment.
constexpr auto busy_patience = std::chrono::seconds(5);

}  // namespace

ShortPatience::ShortPatience(store::Database& database)
    : database_(database), usual_(database.integer("PRAGMA busy_timeout").value_or(0)) {
  set(300);
}

ShortPatience::~ShortPatience() {
  set(usual_);
}

void ShortPatience::set(std::int64_t milliseconds) {
  database_.integer("PRAGMA busy_timeout = " + std::to_string(milliseconds));
}

bool BusySpell::long_enough() {
  if (!since_) since_ = Clock::now();
  return Clock::now() - *since_ > busy_patience;
}

void Recorder::merge_when_due() {
  const auto time = Clock::now();
  if (time - last_merge_ < merge_interval) return;
  last_merge_ = time;
  try {
    const ShortPatience patience(store_.database());
    store_.merge(lease_);
    if (!told_.empty()) observer_.noticed("the database is writable again; nothing is lost");
    told_.clear();
    busy_.over();
  } catch (const store::LeaseLost&) {
    throw;
  } catch (const Error& error) {
    tell_once(error);
  }
}

Recorder::Finish Recorder::finish(store::RunState state, const std::string& reason) {
  const auto time = Clock::now();
  if (last_try_ && time - *last_try_ < merge_interval) return Finish::later;
  last_try_ = time;
  if (!first_try_) first_try_ = time;
  try {
    const ShortPatience patience(store_.database());
    store_.finish_attempt(lease_, state, reason);
    return Finish::done;
  } catch (const store::LeaseLost&) {
    throw;
  } catch (const store::DatabaseError& error) {
    if (!error.busy()) return failed(error);
    tell_once(error);
    return Finish::later;
  }
}

Recorder::Finish Recorder::failed(const Error& error) {
  tell_once(error);
  return Clock::now() - *first_try_ > failing_patience ? Finish::given_up : Finish::later;
}

void Recorder::tell_once(const Error& error) {
  const std::string problem = problem_ = error.what();
  const auto* refusal = dynamic_cast<const store::DatabaseError*>(&error);
  if (refusal != nullptr && refusal->busy() && !busy_.long_enough()) return;
  if (told_ == problem) return;
  if (told_.empty())
    observer_.noticed(problem + "; the worker continues, its records wait in the run's folder");
  told_ = problem;
}

}  // namespace encore::runner
