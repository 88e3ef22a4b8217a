// App: what every verb is called with beside its request: the database, whom it reports to while it works,
// and whether it was asked to stop. Read next: form.hpp, then run.hpp for the largest verb.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>

#include <encore/error.hpp>

namespace encore {

/// What failed after something was started: no mistake in the request.
class WorkError : public Error {
 public:
  using Error::Error;
};

/// What app reports while it works, and what it asks. Called by the thread that called app.
class Events {
 public:
  virtual ~Events() = default;
  /// "planned 12000 of 100000 points": `what` is "planned", `unit` "points"; as often as there is news. It is
  /// over where `done` is `all`.
  virtual void progressed(const std::string& /*what*/, std::size_t /*done*/, std::size_t /*all*/,
                          const std::string& /*unit*/) {}
  /// Something beside the answer that the user should know.
  virtual void noticed(const std::string& /*text*/) {}
  /// What a program that was started wrote to its standard error.
  virtual void relayed(const std::string& /*text*/) {}
  /// From here on the work is under way: a request to stop is counted (App::stop) and does not end the
  /// process.
  virtual void started() {}
  /// Whether the user agrees; false without a user who can be asked.
  virtual bool agrees(const std::string& /*question*/) { return false; }
  virtual bool can_ask() const { return false; }
};

/// Ends the progress that was reported, however its scope is left.
struct ProgressEnd {
  Events& events;
  ~ProgressEnd() { events.progressed("", 0, 0, ""); }
};

struct App {
  std::filesystem::path database;
  Events& events;
  /// How often the user has asked to stop: the first time asks workers to checkpoint and end, the second
  /// kills them. A signal handler may raise it.
  const std::atomic<int>& stop;
  std::string verb = {};  ///< what was asked for, in messages: "show"
};

/// Asks before something that would be a pity if it was not meant: "remove 2 runs for good". True with `yes`.
/// Throws UsageError where there is no user to ask.
bool confirmed(const App& app, bool yes, const std::string& what,
               const std::string& consequence = "This cannot be undone.");

}  // namespace encore
