// Store: the control program's view of its database: runs, attempts with leases, merging, and what `ls` and
// `show` ask. The life of a run:  add_run -> begin_attempt (lease) -> merge every half second (heartbeat) ->
// finish_attempt. Any number of `exp` may do this at once on one database; each run has one holder.
// schema.sql tells what is stored, run_rows.hpp what is answered.
#pragma once

#include <cstdint>
#include <filesystem>
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

namespace encore {

/// What a run has beside its specification.
struct RunExtras {
  std::optional<std::int64_t> sweep = {};  ///< from add_sweep
  std::string note = {};
  std::vector<std::string> tags = {};
  bool fresh = false;  ///< a new repeat even where the question was asked before
};

struct AddedRun {
  RunRow run;
  bool created = false;  ///< false: the question was there already on that backend
};

/// Which runs a question is about: those in sight, those that `exp rm` took out of it, or both.
enum class Sight : std::uint8_t { present, removed, any };
/// The same in SQL, over the table `run`.
std::string condition_of(Sight sight);

struct RunFilter {
  std::vector<RunState> states = {};     ///< empty: all
  std::vector<std::string> tags = {};    ///< all of them
  std::vector<std::string> sweeps = {};  ///< by name, any of them; empty: all
  Sight sight = Sight::present;
  std::optional<std::vector<std::int64_t>> numbers = {};  ///< these alone
  std::int64_t limit = -1;                                ///< newest so many
};

/// The repository that an experiment file lies in, as git knows it; empty where it lies in none.
struct CodeVersion {
  std::string commit = {};
  std::string diff = {};  ///< what differs from that commit
};

/// The right to write about a run, until it is finished or taken over.
struct Lease {
  std::int64_t run = 0;
  std::string run_id;
  std::int64_t attempt = 0;  ///< row number
  int ordinal = 0;           ///< 1, 2 ... within the run: the worker's --attempt
  std::string token;         ///< the worker's --lease; also in the run folder's file `lease`
};

/// An attempt whose worker was launched, and goes on while no control program looks.
struct HeldByJob {
  Lease lease;
  ProcessIdentity holder;
  double started = 0.0;
};

/// Another process took the run over, because this one's lease had expired. The worker is to be stopped.
class LeaseLost : public Error {
 public:
  using Error::Error;
};

/// No run of that name, or several: the message lists the candidates.
class UnknownRun : public Error {
 public:
  using Error::Error;
};

class Store {
 public:
  /// See open_encore_database for what is refused.
  Store(const std::filesystem::path& path, OpenMode mode,
        std::chrono::milliseconds patience = std::chrono::seconds(10));
  ~Store();

  /// encore.db.runs, absolute.
  std::filesystem::path runs_folder() const;
  /// encore.db.runs/<run id>. Throws Error for what is no id (record/run_paths.hpp).
  std::filesystem::path run_folder(const std::string& run_id) const;
  const std::filesystem::path& path() const { return path_; }
  Database& database() { return *database_; }

  // --- Runs (runs.cpp)
  /// `context`: JSON, as the table sweep has it.
  std::int64_t add_sweep(const std::string& name, const std::string& file, const std::string& content,
                         const std::string& context = "{}");
  /// Runs that were there already, from other experiment files, belong to this one too.
  void add_to_sweep(std::int64_t sweep, const std::vector<std::int64_t>& runs);
  /// The numbers of the sweeps with this name (one for each state of the file), newest first.
  std::vector<std::int64_t> find_sweeps(const std::string& name);
  /// Finds the run of this question and backend (its newest repeat), which then belongs to the sweep too, or
  /// makes it, with parameters, data and tags; gives the specification its id and free name. Does not write
  /// the run folder.
  AddedRun add_run(Specification& specification, const RunExtras& extras = {});
  /// Many in few transactions; of each its extras. All runs of a sweep are there, pending, before the first
  /// begins.
  struct RunToAdd {
    Specification* specification = nullptr;
    RunExtras extras = {};
  };
  std::vector<AddedRun> add_runs(std::span<const RunToAdd> runs);
  /// The newest repeat, if the question was ever asked on that backend.
  std::optional<RunRow> find_question(const std::string& question, const std::string& backend);
  /// The one run that a word means; selection.hpp says how. Throws UnknownRun.
  RunRow find_run(const std::string& name_or_id, Sight sight = Sight::present);
  /// Newest first.
  std::vector<RunRow> list_runs(const RunFilter& filter = {});
  RunRow read_run(std::int64_t number);
  void set_tag(std::int64_t run, const std::string& tag, bool present);
  void set_note(std::int64_t run, const std::string& note);
  struct RunToDescribe {
    std::int64_t run = 0;
    const Specification* specification = nullptr;
  };
  /// Settings that only describe, and were recorded with another value, get that of the specification. Many
  /// runs in few transactions.
  void describe(std::span<const RunToDescribe> runs);
  /// The settings of the run become those of the specification; those that only describe stay. Inside a
  /// transaction.
  void write_settings(std::int64_t run, const Specification& specification);
  /// A file that the run reads. Inside a transaction.
  void write_dataset(std::int64_t run, const std::string& role, const DataFile& file);
  /// Of a run that has ended early and on which nobody works: a search leaves it where it is.
  void set_pruned(std::int64_t run, const std::string& reason);
  /// Throws Error when a process works on the run.
  void require_idle(std::int64_t run);
  /// Out of sight, or back: a removed run is not listed, and its question counts as never asked. Its name
  /// stays taken. Throws Error, and changes nothing, when a process works on one of them.
  void set_removed(const std::vector<std::int64_t>& runs, bool removed);
  /// Every row about the run, then its folder; what an interruption leaves is found by find_garbage. Throws
  /// Error when a process works on it.
  void purge_run(std::int64_t run);

  // --- Attempts (attempts.cpp)
  /// Why a run that nobody has begun is not begun: the run that it starts from has failed, say. It goes with
  /// the first attempt.
  void note_waiting(std::int64_t run, const std::string& reason);
  /// Takes the run: exactly one of several processes gets it. Nothing when another one holds it or it is
  /// completed (read_run says which). What an attempt that died left in its spool is merged first; if it
  /// turns out to have been completed there is nothing to begin either. Writes the run folder's `lease` file.
  /// With `seen_attempts`, the number of attempts by which the caller decided: nothing either when others
  /// have worked on the run since and ended it, so that several processes with one sweep do not do each
  /// other's work twice. What a process left that is gone itself may be taken.
  std::optional<Lease> begin_attempt(std::int64_t run, const ProcessIdentity& holder = this_process(),
                                     std::optional<std::int64_t> seen_attempts = {},
                                     const CodeVersion& code = {});
  /// Merges what the spool has got since, and moves the lease's end on. Throws LeaseLost.
  MergeReport merge(const Lease& lease);
  /// The running attempts that are held by a job, not by a control program.
  std::vector<HeldByJob> attempts_of_jobs();
  /// The newest event of that type, which takes the place of earlier ones; null where there is none.
  nlohmann::json read_note(const Lease& lease, const std::string& type);
  void replace_note(const Lease& lease, const std::string& type, const nlohmann::json& body);
  /// An event of the control program itself, not of the worker. Throws LeaseLost.
  void add_event(const Lease& lease, const std::string& type, const nlohmann::json& body);
  /// Merges the rest and writes the state in one transaction: completed only when every record is in the
  /// database. Throws LeaseLost.
  MergeReport finish_attempt(const Lease& lease, RunState state, const std::string& reason = "");
  /// Ends an attempt as finish_attempt does, and enters in the same transaction the one that its job has
  /// begun in its place (runner/job_keeper.hpp), with the token that the job has given it. Throws LeaseLost.
  Lease succeed_attempt(const Lease& lease, RunState state, const std::string& reason, int ordinal,
                        const std::string& token);
  /// Merges what dead attempts left and writes their true end: what their spool says, or lost. Returns the
  /// runs changed.
  std::vector<RunRow> settle();
  /// How long a lease lives without a heartbeat.
  void set_lease_seconds(double seconds) { lease_seconds_ = seconds; }
  /// By which leases are given and judged.
  void set_clock(LeaseClock clock) { clock_ = std::move(clock); }

  // --- Questions (queries.cpp)
  std::vector<ParamRow> read_params(std::int64_t run);
  std::vector<std::string> read_tags(std::int64_t run);
  std::vector<DatasetRow> read_datasets(std::int64_t run);
  std::vector<AttemptRow> read_attempts(std::int64_t run);
  /// Of the last attempt whose worker reported; nothing where none has.
  std::optional<TrainedWith> read_trained_with(std::int64_t run);
  std::vector<MetricRow> read_metrics(std::int64_t run);
  /// The points that count, by rising step.
  std::vector<CurvePoint> read_curve(std::int64_t run, const std::string& metric);
  /// Nothing where no point counts.
  std::optional<MetricSummary> read_summary(std::int64_t run, const std::string& metric);
  /// The last point that counts.
  std::optional<CurvePoint> read_latest(std::int64_t run, const std::string& metric);
  std::vector<CheckpointRow> read_checkpoints(std::int64_t run);
  std::vector<DigestRow> read_digests(std::int64_t run);
  std::vector<ArtifactRow> read_artifacts(std::int64_t run);
  /// In the order in which they happened; of one type, if one is named.
  std::vector<EventRow> read_events(std::int64_t run, const std::string& type = "");
  /// Nothing where it needs no run for that. (parents.cpp)
  std::optional<ParentRow> read_parent(const RunRow& run, Need need = Need::start);
  /// The runs in sight that start or learn from it, the oldest first.
  std::vector<RunRow> list_children(const RunRow& run);
  /// Oldest first.
  std::vector<VerificationRow> read_verifications(std::int64_t run);
  void add_verification(std::int64_t run, const VerificationRow& verification);

 private:
  std::vector<RunRow> read_rows(Statement& statement);
  void add_params(std::int64_t run, const Specification& specification);
  bool is_described(std::int64_t run, const std::string& key, const nlohmann::json& value);
  void set_param(std::int64_t run, const std::string& key, const nlohmann::json& value,
                 const Origins& origins);
  void insert_sweep_run(std::int64_t sweep, std::int64_t run);
  AddedRun insert_run(Specification& specification, const RunExtras& extras);
  std::string free_name(const std::string& wanted);
  std::vector<PluginRow> read_plugins(std::int64_t attempt);
  void require_lease(const Lease& lease);
  /// Whether the holder gave no sign of life for too long: by the time since boot where both are on one boot,
  /// else by the time of day.
  bool lease_expired(const ProcessIdentity& holder, double expires, double expires_uptime) const;
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
  LeaseClock clock_;
};

/// What a run says in the settings: [data] private = true.
bool hides_its_data(Store& store, const RunRow& run);

}  // namespace encore
