// See recorder.hpp.
#include "runner/recorder.hpp"

#include <poll.h>

namespace encore {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto merge_interval = std::chrono::milliseconds(500);
/// A locked database is waited for as long as it takes, a failing one not for ever.
constexpr auto failing_patience = std::chrono::seconds(5);

/// Shortens how long a statement waits for a lock: somebody watches a live line meanwhile, and may press
/// Ctrl-C.
class ShortPatience {
 public:
  explicit ShortPatience(Database& database)
      : database_(database), usual_(database.integer("PRAGMA busy_timeout").value_or(0)) {
    set(300);
  }
  ~ShortPatience() { set(usual_); }
  ShortPatience(const ShortPatience&) = delete;
  ShortPatience& operator=(const ShortPatience&) = delete;

 private:
  void set(std::int64_t milliseconds) {
    database_.integer("PRAGMA busy_timeout = " + std::to_string(milliseconds));
  }

  Database& database_;
  std::int64_t usual_;
};

}  // namespace

void Recorder::merge_when_due() {
  const auto time = Clock::now();
  if (time - last_merge_ < merge_interval) return;
  last_merge_ = time;
  try {
    const ShortPatience patience(store_.database());
    store_.merge(lease_);
    if (!told_.empty()) observer_.noticed("the database takes records again; nothing is lost");
    told_.clear();
  } catch (const LeaseLost&) {
    throw;
  } catch (const Error& error) {
    tell_once(error.what());
  }
}

bool Recorder::finish(RunState state, const std::string& reason, const std::atomic<int>& stop_requests) {
  const int stops_before = stop_requests.load();
  const auto begin = Clock::now();
  for (;;) {
    bool busy = false;
    try {
      const ShortPatience patience(store_.database());
      store_.finish_attempt(lease_, state, reason);
      return true;
    } catch (const LeaseLost&) {
      throw;
    } catch (const DatabaseError& error) {
      busy = error.busy();
      tell_once(error.what());
    }
    const bool given_up = !busy && Clock::now() - begin > failing_patience;
    if (given_up || stop_requests.load() > stops_before) return false;
    ::poll(nullptr, 0, static_cast<int>(merge_interval.count()));
  }
}

void Recorder::tell_once(const std::string& problem) {
  if (told_ == problem) return;
  if (told_.empty())
    observer_.noticed(problem + "; the worker goes on, its records wait in the run's folder");
  told_ = problem;
}

}  // namespace encore
