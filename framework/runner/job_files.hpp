// Job files: what a launched worker's keeper (job_keeper.hpp) and control programs tell each other through
// the run's folder, over any file system that both see. attempt-0001.order says what is to be started; the
// keeper answers with attempt-0001.job, which it writes again every few seconds as long as it lives. Requests
// are files too: stop-1 (stop_request.hpp), checkpoint-1, prune-1. attempt-0001.next says that the keeper was
// started again by its scheduler and has begun another attempt.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "record/control_pipe.hpp"
#include "runner/worker.hpp"

namespace encore {

/// A keeper writes its report so often.
inline constexpr std::chrono::seconds beat_interval(5);
/// One that has written none for so long is taken for gone: file systems of clusters show a change late.
inline constexpr std::chrono::seconds longest_silence(90);

/// "attempt-0001.order"
std::filesystem::path order_file(const std::filesystem::path& run_folder, int attempt);
void save_order(const WorkOrder& order, const WorkerPlace& place);
struct StoredOrder {
  WorkOrder order;
  WorkerPlace place;
};
/// Throws Error naming the file where it is not there or is none.
StoredOrder load_order(const std::filesystem::path& file);

struct JobReport {
  std::string token = {};  ///< of the attempt's lease
  std::string host = {};   ///< as the machine calls itself
  std::int64_t pid = 0;    ///< of the keeper
  std::int64_t beats = 0;  ///< times that it was written: a change is a sign of life, whatever clocks say
  double time = 0.0;       ///< seconds since 1970 by the clock of that machine
  std::optional<ProcessEnd> end = {};                     ///< of the worker
  std::chrono::seconds silent = std::chrono::seconds(0);  ///< as in WorkerEnd
  std::string problem = {};                               ///< why there was no worker
  /// Not empty: its job was told to end and may begin again, which the scheduler knows; why, in a sentence.
  std::string yielded = {};
};
/// Of a worker that has ended.
inline WorkerEnd end_of(const JobReport& report) {
  return {.process = *report.end, .silent = report.silent};
}
/// For whoever reads it now.
void write_report(const std::filesystem::path& run_folder, int attempt, const JobReport& report);
/// Nothing where there is none yet.
std::optional<JobReport> read_report(const std::filesystem::path& run_folder, int attempt);

/// The attempt that a keeper has begun in the place of one that its job left.
struct Succession {
  std::string of;      ///< token of the attempt that was left
  int attempt = 0;     ///< of the new one
  std::string token;   ///< of the new one's lease
  std::string reason;  ///< how the other one ended, as far as the keeper knows
};
/// Of two keepers only one can write it; what stands there then.
Succession save_succession(const std::filesystem::path& run_folder, int attempt, const Succession& wanted);
/// Nothing where there is none.
std::optional<Succession> read_succession(const std::filesystem::path& run_folder, int attempt);

/// Why a machine that is silent for longest_silence is given up.
std::string silence_text(const std::string& host);

/// Asks the keeper to pass a command on to its worker.
void request_command(const std::filesystem::path& run_folder, int attempt, ControlCommand command);
/// Whether that was asked for; the request is taken away, except to stop.
bool take_request(const std::filesystem::path& run_folder, int attempt, ControlCommand command);

}  // namespace encore
