// A session: the work on planned runs once it is clear which are to be worked on: rows in the database,
// places on this machine, on others or in Slurm, and the runner. It reports to SessionEvents, and needs
// neither a terminal nor a command line. Place in the flow: run.hpp, retry.hpp, import.hpp and retrain.hpp
// plan, and end here.
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
#include "store/record_gaps.hpp"
#include "store/store.hpp"

namespace encore {

/// Where runs are worked on, and how.
struct SessionRequest {
  std::optional<int> jobs;  ///< runs at once; not written: 1, or one for each device
  int threads = 0;          ///< of each worker; 0: its share
  std::optional<std::string> launcher, hosts;
  std::optional<std::string> site;  ///< of Slurm
  bool detach = false;              ///< from the jobs of Slurm
  std::optional<std::string> devices;
  int retries = 0;
  int step_timeout = 0;  ///< seconds; 0: none
  RankRequest ranks;
  bool keep_going = false, fail_fast = false, quiet = false;

  bool uses_slurm() const { return launcher == "slurm"; }
};

Form<SessionRequest> session_options();
/// -j, which says of a search alone how many trials Slurm is asked for at once, is refused: what a verb
/// without searches adds to its rules.
std::string wrong_jobs_of_slurm(const SessionRequest& request);

/// An attempt at a run begins.
struct RunBegun {
  std::size_t task = 0;   ///< counts from 0
  std::size_t tasks = 0;  ///< of the session; 0: a search, which does not know how many
  std::string name, id;
  std::string select;  ///< how its checkpoint is chosen: "max dev/f1"
  int retry = 0;       ///< 1 for the first attempt after a crash
  Action action = Action::start;
  bool from_start = false;  ///< without the checkpoints of earlier attempts
  std::vector<RecordGap> gaps = {};
};

/// An attempt has ended, or could not begin (outcome.began).
struct RunEnded {
  std::size_t task = 0, tasks = 0;  ///< as in RunBegun
  std::string name;
  const RunOutcome& outcome;
  bool again = false;                ///< another attempt follows
  std::optional<RunRow> run = {};    ///< as it is stored now; of one that has begun
  std::vector<RecordGap> gaps = {};  ///< of one that is complete
};

/// A search has decided about a trial.
struct TrialNews {
  enum class Kind { proposed, excluded, not_trainable, repeated, promoted, pruned, confirmed } kind;
  std::size_t trial = 0, trials = 0;  ///< counts from 0; the most there will be
  std::string detail = {};            ///< the values of a proposal, or why it is not trained
  std::string length = {};            ///< "3 epochs": up to where it is trained, or was
  std::int64_t seeds = 0;             ///< of a confirmation
};

struct SessionResult {
  std::size_t planned = 0;               ///< runs of the plan
  std::vector<std::int64_t> ended = {};  ///< runs whose end is recorded, in the order of their tasks
  std::vector<std::string> unrecorded = {};
  std::size_t left = 0;  ///< not started
  bool failed = false;
  bool unfinished = false;  ///< a run can go on
  bool gaps = false;        ///< the record of a complete run has some
  bool detached = false;    ///< jobs of Slurm do the rest
  std::size_t held = 0, submitted = 0;

  /// All that was planned is complete, and so is its record.
  bool is_whole() const { return !failed && !unfinished && !gaps && left == 0; }
};

/// What a session reports, in the order in which it happens. Called from the session's thread.
class SessionEvents {
 public:
  virtual ~SessionEvents() = default;
  /// What an earlier process left behind is in the database now.
  virtual void settled(const RunRow& /*run*/) {}
  /// The experiment file has been read, and held against the database, if there is one.
  virtual void planned(const PlannedRuns& /*planned*/) {}
  /// A complete run that is left alone, and what its record lacks for good.
  virtual void incomplete(const RunRow& /*run*/, const std::vector<RecordGap>& /*gaps*/) {}
  /// A plugin file of a run to do has never passed its checks on this machine.
  virtual void unchecked(const UsedPlugin& /*plugin*/) {}
  /// The store stays open until the session returns.
  virtual void opened(Store& /*store*/) {}
  virtual void placed(const std::vector<WorkerPlace>& /*places*/) {}
  /// The answer learns what the worker does, until `ended`.
  virtual RunObserver& begun(const RunBegun& begun) = 0;
  virtual void ended(const RunEnded& ended) = 0;
  virtual void decided(const TrialNews& /*news*/) {}
  /// About all of it: the database is locked, all workers were asked to stop.
  virtual void noticed(const std::string& /*text*/) {}
  /// Several times a second: the screen may be drawn again.
  virtual void glanced() {}
  /// How the jobs of a scheduler stand, and how far the run is where there is but one.
  virtual void queued(const std::string& /*text*/, const Progressed* /*progress*/) {}
  /// The last event of a session of planned runs; the store is still open, even where its file is gone.
  virtual void concluded(const SessionResult& /*result*/) {}
};

/// The places of at most `runs` workers. Throws UsageError where --devices does not fit the backend or -j.
std::vector<WorkerPlace> session_places(const SessionRequest& request, const std::string& backend,
                                        std::size_t runs);

/// Works on every planned run that is to do. New runs belong to the experiment file `sweep`, if there is one;
/// `session` says whether somebody asked to stop. Throws WorkError.
SessionResult work_on(const SessionRequest& request, const App& app, SessionEvents& events, Store& store,
                      const PlannedRuns& planned, std::optional<std::int64_t> sweep,
                      const std::vector<WorkerPlace>& places, const SessionFile& session);

}  // namespace encore
