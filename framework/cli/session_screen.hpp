// SPDX-License-Identifier: BSD-3-Clause
// SessionScreen: the output of a session of runs (app/run_session.hpp): the runs to do, a live line for each
// run, the end of each run, and the end of the session with the exit code.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/retrain.hpp"
#include "cli/console.hpp"
#include "cli/run_display.hpp"

namespace encore {

class SessionScreen final : public RetrainEvents {
 public:
  /// Makes the screen. With `json` the standard output gets only the answer, and everything else goes to the
  /// standard error. `answers`: the answer is the list of runs.
  SessionScreen(Console& console, bool quiet, bool json, bool answers = true);

  void settled(const RunRow& run) override;
  void planned(const PlannedRuns& planned) override;
  void incomplete(const RunRow& run, const std::vector<RecordGap>& gaps) override;
  void unchecked(const UsedPlugin& plugin) override;
  void retrains(const std::string& run, const RunRow& parent, bool from_scratch) override;
  void opened(Store& store) override { store_ = &store; }
  void placed(const std::vector<WorkerPlace>& places) override;
  RunObserver& begun(const RunBegun& begun) override;
  void ended(const RunEnded& ended) override;
  void decided(const TrialNews& news) override;
  void noticed(const std::string& text) override;
  void glanced() override { lines_.refresh(); }
  void queued(const std::string& text, const Progressed* progress) override;
  /// Prints the end of a session, of one run or of a sweep.
  void concluded(const SessionResult& result) override;

 private:
  void say(const std::string& text);
  std::string queue_text(const std::string& text, const Progressed* progress) const;

  Console& console_;
  const bool quiet_, json_, answers_;
  std::ostream& out_;
  LiveLines lines_;
  Store* store_ = nullptr;
  std::string queue_;                                  ///< last shown text
  std::vector<std::unique_ptr<RunDisplay>> displays_;  ///< by task
};

/// Returns the exit code. It reports a failure, unless the user stopped the session before all runs were
/// tried.
int exit_code_of(const App& app, const SessionResult& result);

}  // namespace encore
