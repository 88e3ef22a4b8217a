// SPDX-License-Identifier: BSD-3-Clause
// The structs that the database returns about runs: RunRow, a run with its latest attempt, and the rows that
// belong to it. The functions of store.hpp return them, rows.cpp fills them, and all code that shows runs
// reads them. Names of states, kinds and events are stored and do not change; a new member needs a column of
// schema.sql.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/metric.hpp"
#include "record/events.hpp"
#include "record/source_record.hpp"
#include "world/process.hpp"

namespace encore::store {

/// The state of a run. The names are stored (schema.sql). `pruned`: a search has ended the run early; only
/// that search, or an `exp run` outside of a search, continues it.
enum class RunState : std::uint8_t {
  pending,
  running,
  completed,
  failed,
  interrupted,
  lost,
  stopped,
  pruned
};
const char* name_of(RunState state);
std::optional<RunState> run_state_from(std::string_view name);

/// The origin of rows that another database recorded (table origin).
struct OriginRow {
  std::string kind;    ///< merge, bundle or foreign
  std::string name;    ///< name of the merged file, without its folder
  std::string sha256;  ///< of a bundle; else empty
  double time = 0.0;   ///< when they came here
};

/// A run and its latest attempt, as `exp ls` shows them.
struct RunRow {
  std::int64_t number = 0;  ///< row number: only this database has it
  std::string id;           ///< ten hexadecimal digits, the same in every database
  std::string name;
  RunState state = RunState::pending;  ///< at present: a run whose process is gone is lost, not running
  std::string reason;                  ///< why it ended or does not begin; may be empty
  std::string question;  ///< its identity: SHA-256 of settings, data and seed (plan/identity.hpp)
  std::string group;     ///< SHA-256 of settings and data without the seed: the runs of a candidate share it
  std::string backend;
  std::int64_t repeat = 1;  ///< 1, 2 ... among the runs of one question on one backend
  std::uint64_t seed = 0;
  std::string sweep;  ///< name, or empty
  std::string note;
  double created = 0.0;  ///< all times are in seconds since 1970
  std::optional<double> finished;
  nlohmann::json result;                       ///< {"best_step": ..., "measures": {...}}, or null
  std::int64_t attempts = 0;                   ///< number of attempts
  std::optional<double> started;               ///< of the latest attempt
  std::optional<record::Progressed> progress;  ///< newest progress of the latest attempt
  double progress_time = 0.0;                  ///< when that was written
  world::ProcessIdentity holder;               ///< of the latest attempt: the process or job that works on it
  std::optional<double> removed;               ///< when exp rm hid it
  std::string kind = "training";               ///< or application, foreign
  std::optional<OriginRow> origin;  ///< nothing: this database planned it and recorded its attempts
};
/// Returns whether it is a run of an experiment file with [app] (record::kind_of).
inline bool is_application(const RunRow& run) {
  return run.kind == "application";
}

/// A setting of a run: an option with its value.
struct ParamRow {
  std::string key;   ///< dotted: "model.layers"
  std::string type;  ///< boolean, integer, number, text, list, null
  nlohmann::json value;
  std::string source;  ///< "file", "default", "sweep" ... (config/origin.hpp)
  std::string at;      ///< the place where it was written; empty: nowhere
};
/// A file that a run reads.
struct DatasetRow {
  std::string role, path, sha256;
};
/// A plugin that an attempt used: name, version and digest of its file.
struct PluginRow {
  std::string name, version, sha256, fingerprint;
};
/// One worker process that worked on a run.
struct AttemptRow {
  std::int64_t number = 0;  ///< row number
  int ordinal = 0;          ///< 1, 2 ... within the run
  RunState state = RunState::running;
  std::string reason;
  double started = 0.0;
  std::optional<double> finished;
  std::optional<std::int64_t> first_step;
  nlohmann::json environment, host, build;
  std::optional<record::Started> started_event;
  std::string commit_hash, diff;  ///< of the repository of the experiment file; empty: it is in none
  std::optional<record::SourceVersion> source;  ///< of Encore; nothing: its build did not record it
  world::ProcessIdentity holder;
  std::string spool_problem;       ///< where its spool is damaged, or why it was not read; empty: it is sound
  std::vector<PluginRow> plugins;  ///< by name; empty until the worker has reported
};
/// Returns the worker's start report of the last attempt that has one, or nothing.
std::optional<record::Started> last_started(const std::vector<AttemptRow>& attempts);
/// The plugins and build of an attempt, which a plan of many runs compares with its own.
struct TrainedWith {
  std::vector<PluginRow> plugins;  ///< by name
  nlohmann::json build;
};
struct MetricRow : Metric {
  std::int64_t points = 0;  ///< that count
};
struct CurvePoint {
  std::int64_t step = 0;
  double value = 0.0;  ///< NaN and infinities too
  int attempt = 0;     ///< ordinal
};
/// The statistics of a metric of a run, over the points that count (table newest).
struct MetricSummary {
  CurvePoint newest;
  std::int64_t points = 0;
  std::optional<double> least = {}, greatest = {};  ///< of the finite values
};
/// A checkpoint that an attempt recorded.
struct CheckpointRow {
  std::int64_t step = 0;
  std::string kind, path, sha256;  ///< kind: best, last or manual; path: relative to the run folder
  std::int64_t bytes = 0;
  int attempt = 0;
  double created = 0.0;
  bool on_disk = false;
};
/// The digest of the parameters, or of another block, after a step.
struct DigestRow {
  std::int64_t step = 0;
  std::string scope, value;
  int attempt = 0;  ///< ordinal
};
/// A training that was repeated and compared (table verification).
struct VerificationRow {
  double time = 0.0;
  std::string outcome;  ///< equal, different, not comparable
  std::optional<std::int64_t> first_step;
  std::string scope;
  nlohmann::json details = nlohmann::json::object();
  std::optional<OriginRow> origin = {};  ///< nothing: this database did it
};
/// A finished file of a run, such as predictions; the path is relative to the run folder.
struct ArtifactRow {
  std::string name, path, sha256;
};
/// An event of a worker, or of the control program (then `sequence` is 0 or negative).
struct EventRow {
  int attempt = 0;  ///< ordinal
  std::int64_t sequence = 0;
  double time = 0.0;
  std::string type;
  nlohmann::json body;
};

/// Types of the events in which exp records whose weights an attempt has read: those of the run from which it
/// started, of its teacher, and of a run that a step of an application asks (the body names the table of the
/// step). The names are stored and never change.
inline constexpr const char* parent_event = "parent";
inline constexpr const char* teacher_event = "teacher";
inline constexpr const char* asked_event = "asked";
/// Returns the type of these events for the run that a table of the settings names (config::names_run). It is
/// in parents.cpp.
const char* event_of(const std::string& table);

/// The run that another one needs: it starts from it, learns from it, or asks it.
struct ParentRow {
  std::optional<RunRow>
      run;  ///< the one whose weights were read; before that the one that is named, if it is there
  std::string experiment;   ///< the experiment file that asks for it; empty: named directly
  std::string sha256 = {};  ///< of the weights that were read; empty: not read yet
  int attempt = 0;          ///< the ordinal of the attempt that read them
};

}  // namespace encore::store
