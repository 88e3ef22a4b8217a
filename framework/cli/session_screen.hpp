// SPDX-License-Identifier: BSD-3-Clause
// SessionScreen: the output of a session of runs (app/run_session.hpp): the runs to do, a live line for each
// run, the end of each run, and the end of the session with the exit code. run_verb.cpp and retrain_verb.cpp
// make one and pass it to run(), retry(), import(), run_search() or retrain(), which call it. Scripts read
// the exit code, which must stay; the lines may change.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/retrain.hpp"
#include "cli/console.hpp"
#include "cli/run_display.hpp"

namespace encore::cli {

class SessionScreen final : public app::RetrainEvents {
 public:
  /// Makes the screen. With `json` the standard output gets only the answer, and everything else goes to the
  /// standard error. `answers`: the answer is the list of runs.
  SessionScreen(Console& console, bool quiet, bool json, bool answers = true);

  void settled(const store::RunRow& run) override;
  void planned(const app::PlannedRuns& planned) override;
  void incomplete(const store::RunRow& run, const std::vector<store::RecordGap>& gaps) override;
  void unchecked(const app::UsedPlugin& plugin) override;
  void retrains(const std::string& run, const store::RunRow& parent, bool from_scratch) override;
  void opened(store::Store& store) override { store_ = &store; }
  void placed(const std::vector<runner::WorkerPlace>& places) override;
  runner::RunObserver& begun(const app::RunBegun& begun) override;
  void ended(const app::RunEnded& ended) override;
  void decided(const app::TrialNews& news) override;
  void noticed(const std::string& text) override;
  void glanced() override { lines_.refresh(); }
  void queued(const std::string& text, const record::Progressed* progress) override;
  /// Prints the end of a session, of one run or of a sweep.
  void concluded(const app::SessionResult& result) override;

 private:
  void say(const std::string& text);
  std::string queue_text(const std::string& text, const record::Progressed* progress) const;

  Console& console_;
  const bool quiet_, json_, answers_;
  std::ostream& out_;
  LiveLines lines_;
  store::Store* store_ = nullptr;
  std::string queue_;                                  ///< last shown text
  std::vector<std::unique_ptr<RunDisplay>> displays_;  ///< by task
};

/// Returns the exit code. It reports a failure, unless the user stopped the session before all runs were
/// tried.
int exit_code_of(const app::App& app, const app::SessionResult& result);

}  // namespace encore::cli
