// SPDX-License-Identifier: BSD-3-Clause
// App: what the function of each verb receives beside its request: the path of the database, the receiver of
// its reports (Events), and whether the user asked to stop. run_bound() in cli/verbs.hpp makes one for each
// call, with the Console as Events; tests pass events of their own. Nothing is stored: a new kind of report
// is a virtual function with an empty body here. Read next: form.hpp, then run.hpp for the largest verb.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>

#include <encore/error.hpp>

namespace encore::app {

/// An error after work has started. The request itself was valid.
class WorkError : public Error {
 public:
  using Error::Error;
};

/// The reports and questions of a verb while it works. Called by the thread that called the verb.
class Events {
 public:
  virtual ~Events() = default;
  /// Reports progress, such as "planned 12000 of 100000 points": `what` is "planned", `unit` "points". Called
  /// at every change; the last call has `done` == `all`.
  virtual void progressed(const std::string& /*what*/, std::size_t /*done*/, std::size_t /*all*/,
                          const std::string& /*unit*/) {}
  /// Reports a note for the user beside the answer.
  virtual void noticed(const std::string& /*text*/) {}
  /// Reports what a program that the verb started wrote to its standard error.
  virtual void relayed(const std::string& /*text*/) {}
  /// Reports that the work begins: from now on a request to stop is counted (App::stop) and does not end the
  /// process.
  virtual void started() {}
  /// Returns whether the user agrees. Returns false if there is no user to ask.
  virtual bool agrees(const std::string& /*question*/) { return false; }
  /// Returns whether there is a user who can answer a question, such as at a terminal.
  virtual bool can_ask() const { return false; }
};

/// Ends the reported progress in its destructor, also after an exception.
struct ProgressEnd {
  Events& events;
  ~ProgressEnd() { events.progressed("", 0, 0, ""); }
};

struct App {
  std::filesystem::path database;  ///< --db, $ENCORE_DB or encore.db; the file need not exist
  Events& events;                  ///< the Console of the call
  /// The number of requests to stop: after the first, workers write a checkpoint and end; the second kills
  /// them. A signal handler may raise it.
  const std::atomic<int>& stop;
  std::string verb = {};  ///< name of the verb, for messages: "show"
};

/// Asks for confirmation before an action such as "remove 2 runs for good". Returns true with `yes`. Throws
/// UsageError if there is no user to ask.
bool confirmed(const App& app, bool yes, const std::string& what,
               const std::string& consequence = "This cannot be undone.");

}  // namespace encore::app
