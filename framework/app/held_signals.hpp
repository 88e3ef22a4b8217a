// HeldSignals: the signals that would end this process wait while there is something to be removed and nobody
// catches them yet.
#pragma once

#include <signal.h>

#include <encore/error.hpp>

namespace encore {

class HeldSignals {
 public:
  HeldSignals() {
    ::sigemptyset(&held_);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&held_, signal);
    ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  /// What has come meanwhile arrives now.
  ~HeldSignals() { release(); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Once somebody catches them.
  void release() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  /// Whether one of them waits for this process.
  static bool waiting() {
    sigset_t pending;
    ::sigpending(&pending);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP})
      if (::sigismember(&pending, signal) == 1) return true;
    return false;
  }

 private:
  sigset_t held_ = {}, before_ = {};
};

}  // namespace encore
