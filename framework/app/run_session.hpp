// SPDX-License-Identifier: BSD-3-Clause
// work_on(): a session, which trains planned runs: it writes their rows into the database and starts the
// runner, which trains them at the given places (session_places(), slurm_place()): on this machine, on others
// or in Slurm. run.cpp, retry.cpp, import.cpp and retrain.cpp plan runs and call it; search_session.cpp has a
// loop of its own and uses the same places and events. It reports to SessionEvents and needs neither a
// terminal nor a command line; keep it so, because tests and other programs call it. Read next:
// session_tasks.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/planned_runs.hpp"
#include "app/run_ranks.hpp"
#include "runner/places.hpp"
#include "runner/runner.hpp"
#include "runner/session_file.hpp"
#include "runner/slurm/slurm_runner.hpp"
#include "store/record_gaps.hpp"
#include "store/store.hpp"

namespace encore::app {

/// The options for where and how runs are trained.
struct SessionRequest {
  std::optional<int> jobs;              ///< runs at once; not given: 1, or one for each device
  int threads = 0;                      ///< of each worker; 0: its share
  std::optional<std::string> launcher;  ///< "ssh", "slurm" or a command
  std::optional<std::string> hosts;     ///< machines, separated by commas
  std::optional<std::string> site;      ///< of Slurm
  bool detach = false;                  ///< return after the jobs of Slurm are submitted
  std::optional<std::string> devices;   ///< numbers of GPUs, separated by commas
  int retries = 0;                      ///< attempts after a crash, for each run
  int step_timeout = 0;                 ///< seconds; 0: none
  RankRequest ranks;
  bool keep_going = false;  ///< has no effect: a session continues with other runs unless fail_fast is set
  bool fail_fast = false;   ///< end the session after a run has failed
  bool quiet = false;       ///< print no progress

  bool uses_slurm() const { return launcher == "slurm"; }
};

/// The options of SessionRequest, for verbs that train.
Form<SessionRequest> session_options();
/// Returns a message if -j is given with --launcher slurm. Only a search accepts both: there -j limits the
/// trials that are submitted at once.
std::string wrong_jobs_of_slurm(const SessionRequest& request);

/// An attempt at a run begins.
struct RunBegun {
  std::size_t task = 0;   ///< counts from 0
  std::size_t tasks = 0;  ///< of the session; 0: a search, whose number is unknown
  std::string name, id;
  std::string select;                       ///< the rule that chooses its checkpoint: "max dev/f1"
  int retry = 0;                            ///< 1 for the first attempt after a crash
  Action action = Action::start;            ///< why the run is trained
  bool from_start = false;                  ///< without the checkpoints of earlier attempts
  std::vector<store::RecordGap> gaps = {};  ///< that earlier attempts have left in its record
};

/// An attempt has ended or could not begin (outcome.began).
struct RunEnded {
  std::size_t task = 0, tasks = 0;  ///< as in RunBegun
  std::string name;
  const runner::RunOutcome& outcome;        ///< valid during the call
  bool again = false;                       ///< another attempt follows
  std::optional<store::RunRow> run = {};    ///< the stored row of a run that has begun
  std::vector<store::RecordGap> gaps = {};  ///< of a complete run
};

/// A decision of a search about a trial.
struct TrialNews {
  enum class Kind { proposed, excluded, not_trainable, repeated, promoted, pruned, confirmed } kind;
  std::size_t trial = 0;    ///< counts from 0
  std::size_t trials = 0;   ///< the largest number of trials of the search
  std::string detail = {};  ///< the values of a proposal, or the reason why it is not trained
  std::string length = {};  ///< length of its training: "3 epochs"
  std::int64_t seeds = 0;   ///< of a confirmation
};

struct SessionResult {
  std::size_t planned = 0;                   ///< runs of the plan
  std::vector<std::int64_t> ended = {};      ///< runs whose end is recorded, in the order of their tasks
  std::vector<std::string> unrecorded = {};  ///< names of runs whose end could not be stored
  std::size_t left = 0;                      ///< not started
  bool failed = false;                       ///< a run failed
  bool unfinished = false;                   ///< a run can be resumed
  bool gaps = false;                         ///< the record of a complete run has gaps
  bool detached = false;                     ///< jobs of Slurm train the rest
  std::size_t held = 0, submitted = 0;       ///< jobs of Slurm that are held, and those submitted

  /// Returns whether all planned runs are complete, with complete records.
  bool is_whole() const { return !failed && !unfinished && !gaps && left == 0; }
};

/// The reports of a session, in their order in time. Called from the session's thread. run.cpp calls settled,
/// planned, incomplete and unchecked before the session; search_session.cpp calls decided; the others come
/// from the session itself.
class SessionEvents {
 public:
  virtual ~SessionEvents() = default;
  /// Called when the spools of earlier processes of a run are merged into the database.
  virtual void settled(const store::RunRow& /*run*/) {}
  /// Called when the experiment file is read, and compared with the database, if there is one.
  virtual void planned(const PlannedRuns& /*planned*/) {}
  /// Called for a complete run that is skipped and has permanent gaps in its record.
  virtual void incomplete(const store::RunRow& /*run*/, const std::vector<store::RecordGap>& /*gaps*/) {}
  /// Called for a plugin file of a run to do that has never passed its checks on this machine.
  virtual void unchecked(const UsedPlugin& /*plugin*/) {}
  /// Called when the store is open; it stays open until the session returns.
  virtual void opened(store::Store& /*store*/) {}
  virtual void placed(const std::vector<runner::WorkerPlace>& /*places*/) {}
  /// Called when an attempt begins. The returned observer receives the worker's events until `ended`.
  virtual runner::RunObserver& begun(const RunBegun& begun) = 0;
  virtual void ended(const RunEnded& ended) = 0;
  virtual void decided(const TrialNews& /*news*/) {}
  /// Called with a message about the whole session, such as that the database is locked.
  virtual void noticed(const std::string& /*text*/) {}
  /// Called several times a second, so that the screen can be drawn again.
  virtual void glanced() {}
  /// Called with the state of the scheduler's jobs, and the progress of the run if there is only one.
  virtual void queued(const std::string& /*text*/, const record::Progressed* /*progress*/) {}
  /// Called last in a session of planned runs. The store is still open, even if its file was removed.
  virtual void concluded(const SessionResult& /*result*/) {}
};

/// Returns the places of at most `runs` workers. Throws UsageError if --devices does not fit the backend or
/// -j.
std::vector<runner::WorkerPlace> session_places(const SessionRequest& request, const std::string& backend,
                                                std::size_t runs);

/// Trains every planned run that is to do, at `places`. `sweep` is the number of the experiment file's row in
/// the table "sweep", to which new runs belong; nothing if there is none. `session` reports requests to stop.
/// Throws WorkError.
SessionResult work_on(const SessionRequest& request, const App& app, SessionEvents& events,
                      store::Store& store, const PlannedRuns& planned, std::optional<std::int64_t> sweep,
                      const std::vector<runner::WorkerPlace>& places, const runner::SessionFile& session);

// --- the session with --launcher slurm (slurm_session.cpp) ---

/// Returns the place of a worker or its ranks in a job. Throws ConfigErrors for the site file, UsageError if
/// the site file starts no ranks, Error without Slurm.
runner::WorkerPlace slurm_place(const SessionRequest& request);
/// Returns what submits the jobs of the session: it knows the folder of the runs, the program exp, the site
/// and Slurm's limits. Throws ConfigErrors for the site file, Error without Slurm.
runner::SlurmSubmitter slurm_submitter(const SessionRequest& request, const store::Store& store);
/// Returns the settings of the runner of Slurm jobs. `session` must outlive them.
runner::SlurmSettings slurm_settings(const SessionRequest& request, const runner::WorkerPlace& place,
                                     const runner::SessionFile& session);

}  // namespace encore::app
