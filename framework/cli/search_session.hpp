// SearchSession: what `exp run` does with a search once it is planned: it asks decide
// (plan/search/decide.hpp) whenever a worker is free, trains what is decided, and writes decisions and
// observations down as they are made. A kill at any moment loses none of them: what was decided and not
// observed yet is gone on with first.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/planned_search.hpp"
#include "cli/run_display.hpp"
#include "runner/places.hpp"
#include "runner/runner.hpp"
#include "runner/session_file.hpp"

namespace encore {

class SearchSession final : public RunnerObserver {
 public:
  SearchSession(const CommandLine& line, Store& store, PlannedSearch& planned, std::int64_t sweep);

  /// Returns the exit code.
  int run(const std::vector<WorkerPlace>& places, const SessionFile& session);

  std::vector<RunTask> more() override;
  RunObserver& begun(std::size_t task, int retry) override;
  void ended(std::size_t task, const RunOutcome& outcome, bool again) override;
  void noticed(const std::string& text) override;
  void glanced() override { lines_.refresh(); }
  void queued(const std::string& text, const Progressed* progress) override { queue_.show(text, progress); }

 private:
  /// A run that the runner was given.
  struct Task {
    std::size_t trial = 0;
    std::int64_t run = 0;
    std::string name;
    std::unique_ptr<RunDisplay> display = {};
  };
  /// A trial that is being trained: how its runs have ended so far.
  struct Work {
    std::int64_t epochs = 0;
    bool confirms = false;                             // with fresh seeds
    std::size_t open = 0;                              // runs that have not ended
    bool unfinished = false;                           // one was interrupted: the trial goes on another time
    std::map<std::int64_t, std::int64_t> paused = {};  // run -> step, at its rung
  };

  std::size_t work(CodeVersion code, const std::vector<WorkerPlace>& places, const SessionFile& session);
  std::vector<RunTask> resumed();
  std::vector<RunTask> resumed(std::size_t trial, const search::TrialState& state);
  std::vector<RunTask> propose(const search::Decision& decision);
  std::vector<RunTask> promote(const search::Decision& decision);
  void prune(const search::Decision& decision);
  std::vector<RunTask> confirm(const search::Decision& decision);
  void mark_as_pruned(std::size_t trial);
  std::vector<RunTask> train(std::size_t trial, Work work, PlannedRuns runs);
  search::TrialRuns replanned(std::size_t trial, std::int64_t fresh_seeds);
  PlannedRuns planned_runs(std::size_t trial, std::int64_t fresh_seeds = 0);
  std::vector<std::int64_t> added(PlannedRuns& runs);
  std::string worker_problem(const PlannedRuns& runs) const;
  std::string repeated_trial(const TrialRow& row) const;
  void record(const search::Decision& decision, const search::Trial& trial = {}, const TrialRow& row = {});
  void observe(search::Observation observation, const std::string& reason = "");
  void conclude(std::size_t trial);
  bool is_over(const RunRow& run, const Work& work);
  std::int64_t step_of(const RunRow& run, const Work& work);
  std::vector<double> values_of(const std::vector<std::int64_t>& runs, const Work& work);
  double seconds_since_last(std::size_t trial, bool confirms);
  void say(const std::string& text);
  std::string length(std::int64_t epochs) const;
  std::string title(std::size_t trial) const;

  const CommandLine& line_;
  Store& store_;
  PlannedSearch& planned_;
  const std::int64_t sweep_;
  LiveLines lines_;
  QueueLine queue_;
  std::vector<Task> tasks_;
  std::map<std::size_t, Work> work_;  // by trial
  bool resumed_ = false;
  bool asked_ = false;       // since anything has changed
  bool unfinished_ = false;  // something goes on another time
};

}  // namespace encore
