// SPDX-License-Identifier: BSD-3-Clause
// served_models() returns the models of `exp serve`. Each word of its command line is a run of the database,
// a folder with a run, or a bundle. cli/serve_verb.cpp calls it at its start and at each SIGHUP, and passes
// the models to serve/serve.hpp; while it unpacks bundles, HeldSignals keeps a signal from leaving their
// folders behind. A name selects a model in requests of clients, so a run has the name of the database.
#pragma once

#include <signal.h>

#include <string>
#include <vector>

#include "app/serving_requests.hpp"
#include "serve/serve.hpp"

namespace encore::app {

/// Returns the models of the command line: runs first, then folders and bundles in their order. Unpacks
/// bundles and reports the progress. Throws UsageError for two models with one name, a model that cannot be
/// monitored, or contradicting options; Error for an unknown word, a damaged bundle or a missing plugin.
std::vector<serve::ServedRun> served_models(const ServingRequest& request, const App& app);

/// Returns the names, such as "tiny, other".
std::string names_of(const std::vector<serve::ServedRun>& models);

/// Blocks the signals that would end this process while it has temporary files and no signal handler yet.
/// cli/serve_verb.cpp holds them while bundles are unpacked; served_models() asks waiting() before each and
/// throws Error if a signal has come.
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
