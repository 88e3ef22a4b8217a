// SPDX-License-Identifier: BSD-3-Clause
// Store is the control program's view of its database: runs, attempts with leases, merging, and the answers
// for `ls` and `show`. The life of a run is: add_run -> begin_attempt (lease) -> merge every half second
// (heartbeat) -> finish_attempt. Any number of `exp` may do this at once on one database; each run has one
// holder, the process or job that has its lease. The members stand in sections by their .cpp. A change of
// what is stored needs a new version of the schema (upgrade.cpp). Read next: schema.sql for what is stored,
// run_rows.hpp for the answers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "record/specification.hpp"
#include "store/encore_database.hpp"
#include "store/merge.hpp"
#include "store/run_rows.hpp"
#include "world/lease_clock.hpp"
#include "world/process.hpp"

namespace encore::store {

/// The optional properties of a run that is added.
struct RunExtras {
  std::optional<std::int64_t> sweep = {};  ///< row number that add_sweep returned
  std::string note = {};
  std::vector<std::string> tags = {};
  bool fresh = false;  ///< a new repeat even if the question has a run
};

struct AddedRun {
  RunRow run;
  bool created = false;  ///< false: the question already had a run on that backend
};

/// Which runs a query includes: the present ones, those that `exp rm` removed, or both.
enum class Sight : std::uint8_t { present, removed, any };
/// Returns `sight` as an SQL condition on the table `run`.
std::string condition_of(Sight sight);

struct RunFilter {
  std::vector<RunState> states = {};     ///< empty: all
  std::vector<std::string> tags = {};    ///< all of them
  std::vector<std::string> sweeps = {};  ///< by name, any of them; empty: all
  Sight sight = Sight::present;
  std::optional<std::vector<std::int64_t>> numbers = {};  ///< only these row numbers
  std::int64_t limit = -1;                                ///< at most N newest runs
};

/// The repository that holds the user's experiment file, as git knows it; empty if there is none.
struct CodeVersion {
  std::string commit = {};
  std::string diff = {};  ///< the difference from that commit
};

/// The right of one process to write about a run, until the attempt is finished or another process takes the
/// run over.
struct Lease {
  std::int64_t run = 0;
  std::string run_id;
  std::int64_t attempt = 0;  ///< row number
  int ordinal = 0;           ///< 1, 2 ... within the run: the worker's --attempt
  std::string token;         ///< the worker's --lease; also in the run folder's file `lease`
};

/// The file in a run's folder with the token of the one attempt that may write checkpoints. attempts.cpp
/// writes it when a process takes the run; the worker compares it with its own token before it renames a
/// checkpoint into place. Workers of other versions read it, so the name stays.
inline constexpr const char* lease_file_name = "lease";
/// Returns a new token, such as "2-0123456789abcdef" for attempt 2. It is never the same twice.
std::string make_lease_token(int ordinal);

/// An attempt that a job of a scheduler runs, without a control program that waits for it.
struct HeldByJob {
  Lease lease;
  world::ProcessIdentity holder;
  double started = 0.0;
};

/// Error: another process took the run over, because this one's lease had expired. The caller must stop its
/// worker.
class LeaseLost : public Error {
 public:
  using Error::Error;
};

/// Error: no run has that name, or several do; then the message lists the candidates.
class UnknownRun : public Error {
 public:
  using Error::Error;
};

class Store {
 public:
  /// Throws Error for everything that open_encore_database() refuses.
  Store(const std::filesystem::path& path, OpenMode mode,
        std::chrono::milliseconds patience = std::chrono::seconds(10));
  ~Store();

  /// Returns the folder of all run folders: encore.db.runs beside encore.db, as an absolute path.
  std::filesystem::path runs_folder() const;
  /// Returns the folder of one run: encore.db.runs/<run id>. Throws Error for an invalid id
  /// (record/run_paths.hpp).
  std::filesystem::path run_folder(const std::string& run_id) const;
  const std::filesystem::path& path() const { return path_; }
  Database& database() { return *database_; }

  // --- Runs (add_runs.cpp, runs.cpp)
  /// `context` is JSON, as the table sweep has it.
  std::int64_t add_sweep(const std::string& name, const std::string& file, const std::string& content,
                         const std::string& context = "{}");
  /// Adds existing runs, which other experiment files made, to this sweep.
  void add_to_sweep(std::int64_t sweep, const std::vector<std::int64_t>& runs);
  /// Returns the row numbers of the sweeps with this name (one for each state of the file), newest first.
  std::vector<std::int64_t> find_sweeps(const std::string& name);
  /// Finds the run of this question (identity of its settings and data) on this backend, the newest repeat,
  /// and adds it to the sweep. If there is none, adds a run with settings, data and tags. Sets id and a free
  /// name in the specification. Does not write the run folder.
  AddedRun add_run(record::Specification& specification, const RunExtras& extras = {});
  /// Adds many runs in few transactions. All runs of a sweep exist, pending, before the first begins.
  struct RunToAdd {
    record::Specification* specification = nullptr;
    RunExtras extras = {};
  };
  std::vector<AddedRun> add_runs(std::span<const RunToAdd> runs);
  /// Returns the newest repeat of the question on that backend, or nothing.
  std::optional<RunRow> find_question(const std::string& question, const std::string& backend);
  /// Returns the one run that a word means, by the rules of selection.hpp. Throws UnknownRun.
  RunRow find_run(const std::string& name_or_id, Sight sight = Sight::present);
  /// Returns the runs, newest first.
  std::vector<RunRow> list_runs(const RunFilter& filter = {});
  RunRow read_run(std::int64_t number);
  void set_tag(std::int64_t run, const std::string& tag, bool present);
  void set_note(std::int64_t run, const std::string& note);
  struct RunToDescribe {
    std::int64_t run = 0;
    const record::Specification* specification = nullptr;
  };
  /// Updates settings that do not belong to the identity of a run and differ from the specification. Uses few
  /// transactions for many runs.
  void describe(std::span<const RunToDescribe> runs);
  /// Replaces the settings of the run by those of the specification, except settings outside its identity.
  /// Call it inside a transaction.
  void write_settings(std::int64_t run, const record::Specification& specification);
  /// Adds a file that the run reads. Call it inside a transaction.
  void write_dataset(std::int64_t run, const std::string& role, const record::DataFile& file);
  /// Marks a run that ended early and is idle as pruned, because its search does not continue it.
  void set_pruned(std::int64_t run, const std::string& reason);
  /// Throws Error when a process works on the run.
  void require_idle(std::int64_t run);
  /// Hides runs, or restores them. A removed run is not listed, and `exp run` with its settings and data
  /// makes a new run. Its name stays taken. Throws Error, and changes nothing, if a process works on one of
  /// them.
  void set_removed(const std::vector<std::int64_t>& runs, bool removed);
  /// Deletes every row about the run, then its folder. After an interruption find_garbage() finds the rest.
  /// Throws Error if a process works on the run.
  void purge_run(std::int64_t run);

  // --- Attempts (attempts.cpp)
  /// Stores why a run does not begin, for example because the run that it starts from has failed. The first
  /// attempt erases the reason. (parents.cpp)
  void note_waiting(std::int64_t run, const std::string& reason);
  /// Takes the run: of several processes exactly one gets it. First merges what a dead attempt left in its
  /// spool. Returns nothing if another process holds the run, or if it is completed (read_run says which).
  /// `seen_attempts` is the number of attempts when the caller decided. If others have worked on the run
  /// since and ended it, nothing is returned, so that several processes with one sweep do not repeat each
  /// other's work; attempts that were interrupted because their process died do not count. Writes the `lease`
  /// file of the run folder.
  std::optional<Lease> begin_attempt(std::int64_t run,
                                     const world::ProcessIdentity& holder = world::this_process(),
                                     std::optional<std::int64_t> seen_attempts = {},
                                     const CodeVersion& code = {});
  /// Merges new records of the spool and extends the lease. Throws LeaseLost.
  MergeReport merge(const Lease& lease);
  /// Returns the running attempts that a scheduler's job holds, not a control program.
  std::vector<HeldByJob> attempts_of_jobs();
  /// Returns the newest event of that type, which replaces earlier ones, or null.
  nlohmann::json read_note(const Lease& lease, const std::string& type);
  void replace_note(const Lease& lease, const std::string& type, const nlohmann::json& body);
  /// Adds an event of the control program. Throws LeaseLost.
  void add_event(const Lease& lease, const std::string& type, const nlohmann::json& body);
  /// Merges the rest of the spool and writes the state, in one transaction. The state becomes completed only
  /// if every record is in the database. Throws LeaseLost.
  MergeReport finish_attempt(const Lease& lease, RunState state, const std::string& reason = "");
  /// Ends an attempt like finish_attempt(). In the same transaction, adds the next attempt, which the job has
  /// already begun (runner/job_keeper.hpp), with the token that the job gave it. Throws LeaseLost.
  Lease succeed_attempt(const Lease& lease, RunState state, const std::string& reason, int ordinal,
                        const std::string& token);
  /// Merges the spools of dead attempts and writes how they ended: as the spool says, else lost. Returns the
  /// changed runs.
  std::vector<RunRow> settle();
  /// Sets how long a lease lives without a heartbeat.
  void set_lease_seconds(double seconds) { lease_seconds_ = seconds; }
  /// Sets the clock by which leases are given and judged.
  void set_clock(world::LeaseClock clock) { clock_ = std::move(clock); }

  // --- Reading one run (queries.cpp)
  std::vector<ParamRow> read_params(std::int64_t run);
  std::vector<std::string> read_tags(std::int64_t run);
  std::vector<DatasetRow> read_datasets(std::int64_t run);
  std::vector<AttemptRow> read_attempts(std::int64_t run);
  /// Returns the plugins of the last attempt whose worker sent its start report, or nothing.
  std::optional<TrainedWith> read_trained_with(std::int64_t run);
  std::vector<MetricRow> read_metrics(std::int64_t run);
  /// Returns the points that count, by rising step.
  std::vector<CurvePoint> read_curve(std::int64_t run, const std::string& metric);
  /// Returns statistics over the points that count, or nothing if there is none.
  std::optional<MetricSummary> read_summary(std::int64_t run, const std::string& metric);
  /// Returns the last point that counts, or nothing.
  std::optional<CurvePoint> read_latest(std::int64_t run, const std::string& metric);
  std::vector<CheckpointRow> read_checkpoints(std::int64_t run);
  std::vector<DigestRow> read_digests(std::int64_t run);
  std::vector<ArtifactRow> read_artifacts(std::int64_t run);
  /// Returns the events of that type, or all if `type` is empty, in the order in which they happened.
  std::vector<EventRow> read_events(std::int64_t run, const std::string& type = "");
  /// Returns the run that a table of this one's settings names (config::names_run), or nothing if there is no
  /// such table. (parents.cpp)
  std::optional<ParentRow> read_parent(const RunRow& run, const std::string& table = "model.from");
  /// Returns all runs that a run needs, by the tables that name them (config::names_run).
  std::map<std::string, ParentRow> read_parents(const RunRow& run);
  /// Returns the present runs that start or learn from it or ask it, the oldest first.
  std::vector<RunRow> list_children(const RunRow& run);
  /// Returns the verifications, oldest first.
  std::vector<VerificationRow> read_verifications(std::int64_t run);
  void add_verification(std::int64_t run, const VerificationRow& verification);

 private:
  std::vector<RunRow> read_rows(Statement& statement);
  void add_params(std::int64_t run, const record::Specification& specification);
  bool is_described(std::int64_t run, const std::string& key, const nlohmann::json& value);
  void set_param(std::int64_t run, const std::string& key, const nlohmann::json& value,
                 const config::Origins& origins);
  void insert_sweep_run(std::int64_t sweep, std::int64_t run);
  AddedRun insert_run(record::Specification& specification, const RunExtras& extras);
  std::string free_name(const std::string& wanted);
  std::vector<PluginRow> read_plugins(std::int64_t attempt);
  void require_lease(const Lease& lease);
  /// Returns whether the lease has expired: by the time since boot if holder and caller are on one boot of
  /// one machine, else by the time of day.
  bool lease_expired(const world::ProcessIdentity& holder, double expires, double expires_uptime) const;
  bool is_stale(std::int64_t attempt);
  bool ended_by_others(std::int64_t run, std::int64_t seen_attempts);
  void bury(std::int64_t run, std::int64_t attempt, int ordinal);
  MergeReport merge_spool(std::int64_t run, const std::string& run_id, std::int64_t attempt, int ordinal,
                          bool is_over, const std::function<void()>& check = {},
                          const std::function<void(const MergeReport&)>& conclude = {});
  MergeReport merge(const Lease& lease, const std::function<void(const MergeReport&)>& conclude);
  std::int64_t number_of(const CodeVersion& code);

  std::filesystem::path path_;
  std::unique_ptr<Database> database_;
  double lease_seconds_ = 60.0;
  world::LeaseClock clock_;
};

/// Returns whether the settings of a run have [data] private = true.
bool hides_its_data(Store& store, const RunRow& run);

}  // namespace encore::store
