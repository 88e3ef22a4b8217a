// SPDX-License-Identifier: BSD-3-Clause
// Job files: how a launched worker's keeper (job_keeper.hpp) and control programs communicate through the
// run's folder, on a file system that both see. attempt-0001.order says what to start; the keeper writes
// attempt-0001.job again every few seconds. stop-1 (stop_request.hpp), checkpoint-1 and prune-1 are requests.
// attempt-0001.next names the attempt that replaces this one after a scheduler has started the job again. The
// other side may be another version of `exp`, so names of files and members do not change.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "record/control_pipe.hpp"
#include "runner/worker.hpp"

namespace encore::runner {

/// The time between two reports of a keeper.
inline constexpr std::chrono::seconds beat_interval(5);
/// A keeper without a new report for this long counts as gone. The time is long because file systems of
/// clusters show a change late.
inline constexpr std::chrono::seconds longest_silence(90);

/// Returns "attempt-0001.order".
std::filesystem::path order_file(const std::filesystem::path& run_folder, int attempt);
/// Writes the order into the run's folder, before anything is launched.
void save_order(const WorkOrder& order, const WorkerPlace& place);
/// An order as the keeper reads it: what to start, and the variables and ranks of its place.
struct StoredOrder {
  WorkOrder order;
  WorkerPlace place;
};
/// Throws Error that names the file if it is missing or invalid.
StoredOrder load_order(const std::filesystem::path& file);

/// What a keeper reports every beat_interval, and once more when its worker has ended.
struct JobReport {
  std::string token = {};              ///< of the attempt's lease
  std::string host = {};               ///< the machine's own name
  std::int64_t pid = 0;                ///< of the keeper
  std::int64_t beats = 0;              ///< number of writes: a change is a sign of life, whatever clocks say
  double time = 0.0;                   ///< seconds since 1970 by the clock of that machine
  std::optional<ProcessEnd> end = {};  ///< of the worker
  std::chrono::seconds silent = std::chrono::seconds(0);  ///< as in WorkerEnd
  std::string problem = {};                               ///< why there was no worker; empty: there was one
  /// Not empty if its job was asked to end and its scheduler may start it again; the reason, in a sentence.
  std::string yielded = {};
};
/// Returns the end of a worker from its keeper's report.
inline WorkerEnd end_of(const JobReport& report) {
  return {.process = *report.end, .silent = report.silent};
}
/// Writes the report for concurrent readers.
void write_report(const std::filesystem::path& run_folder, int attempt, const JobReport& report);
/// Returns nothing if there is none yet.
std::optional<JobReport> read_report(const std::filesystem::path& run_folder, int attempt);

/// The new attempt that a keeper began in place of one that its job had left, after a scheduler started the
/// job again. It is stored as JSON in attempt-0001.next.
struct Succession {
  std::string of;      ///< token of the attempt that was left
  int attempt = 0;     ///< of the new one
  std::string token;   ///< of the new one's lease
  std::string reason;  ///< how the other one ended, as far as the keeper knows
};
/// Writes the succession unless another keeper was first. Returns the one that is stored then.
Succession save_succession(const std::filesystem::path& run_folder, int attempt, const Succession& wanted);
/// Returns nothing if there is none.
std::optional<Succession> read_succession(const std::filesystem::path& run_folder, int attempt);

/// Returns the reason of an attempt whose machine was silent for longest_silence and is given up.
std::string silence_text(const std::string& host);

/// Asks the keeper to pass a command on to its worker.
void request_command(const std::filesystem::path& run_folder, int attempt, record::ControlCommand command);
/// Returns whether that was requested, and removes the request, except to stop.
bool take_request(const std::filesystem::path& run_folder, int attempt, record::ControlCommand command);

}  // namespace encore::runner
