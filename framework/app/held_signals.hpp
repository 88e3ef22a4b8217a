// SPDX-License-Identifier: BSD-3-Clause
// HeldSignals blocks the signals that would end this process while it has temporary files and no signal
// handler yet. cli/serve_verb.cpp holds them while bundles are unpacked; served_models.cpp asks whether one
// is waiting.
#pragma once

#include <signal.h>

#include <encore/error.hpp>

namespace encore::app {

class HeldSignals {
 public:
  HeldSignals() {
    ::sigemptyset(&held_);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&held_, signal);
    ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  /// Delivers the signals that arrived meanwhile.
  ~HeldSignals() { release(); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Releases the signals. Called after a handler is set.
  void release() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  /// Returns whether a blocked signal is pending for this process.
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

}  // namespace encore::app
