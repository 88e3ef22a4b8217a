// SPDX-License-Identifier: BSD-3-Clause
// Builds the command lines of sbatch, squeue, sacct, scancel and scontrol, and parses their output.
// queue_view.cpp, submitter.cpp and job_accounts.cpp call it. Formats differ between versions of Slurm:
// unknown states and fields must not throw. Read commands.hpp first.
#include "runner/slurm/commands.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include <encore/error.hpp>

#include "runner/worker_process.hpp"

namespace encore::runner {

namespace {

/// The longest time for a command of Slurm: a busy controller answers late, and if it is down, a command
/// tries for minutes.
constexpr std::chrono::seconds answer_timeout(60);

/// Runs a command of Slurm. Returns nothing if it cannot be started or did not end in time.
std::optional<ProgramOutput> ask(const std::string& command, const std::vector<std::string>& arguments) {
  try {
    ProgramWatch watch;
    watch.timeout = answer_timeout;
    ProgramOutput output = run_program(command, arguments, "", watch);
    if (output.silent) return std::nullopt;
    return output;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  for (std::size_t begin = 0;;) {
    const std::size_t end = line.find('|', begin);
    fields.push_back(line.substr(begin, end - begin));
    if (end == std::string::npos) return fields;
    begin = end + 1;
  }
}

/// Returns 0 for "N/A", which squeue prints for a job without an array.
int number_in(const std::string& text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::max(number, 0);
}

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
  return list;
}

std::string last_line(const std::string& text) {
  std::istringstream in(text);
  std::string last;
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) last = line;
  return last;
}

/// Returns "CANCELLED" for "CANCELLED by 1000" of sacct.
std::string first_word(const std::string& text) {
  return text.substr(0, text.find_first_of(" +"));
}

constexpr std::array waiting_states = {"PENDING",      "REQUEUED",     "REQUEUE_FED",
                                       "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"};
constexpr std::array living_states = {"RUNNING",   "CONFIGURING", "COMPLETING", "RESIZING",
                                      "SIGNALING", "STAGE_OUT",   "STOPPED",    "SUSPENDED"};

/// Messages of sbatch after which the same submission may be accepted later.
constexpr std::array later_texts = {"temporarily unable to accept job",
                                    "MaxSubmitJob",
                                    "QOSMaxSubmit",
                                    "AssocMaxSubmit",
                                    "Job violates accounting/QOS policy",
                                    "Too many jobs",
                                    "too many jobs",
                                    "Unable to contact slurm controller",
                                    "Socket timed out",
                                    "Zero Bytes were transmitted",
                                    "Connection refused",
                                    "Resource temporarily unavailable"};

}  // namespace

bool QueuedJob::waits() const {
  return std::ranges::find(waiting_states, state) != waiting_states.end();
}

bool QueuedJob::is_over() const {
  return !waits() && std::ranges::find(living_states, state) == living_states.end();
}

namespace {

std::string word_behind_equals(const std::string& line) {
  std::istringstream in(line.substr(std::min(line.find('='), line.size() - 1) + 1));
  std::string word;
  in >> word;
  return word;
}

}  // namespace

SlurmLimits parse_limits(const std::string& configuration) {
  SlurmLimits limits;
  std::istringstream in(configuration);
  const auto value_of = [](const std::string& line) {
    const std::size_t at = line.find('=');
    const std::size_t begin = at == std::string::npos ? at : line.find_first_not_of(' ', at + 1);
    return begin == std::string::npos ? 0 : number_in(line.substr(begin));
  };
  int jobs = 0;
  for (std::string line; std::getline(in, line);) {
    // The highest index is one less, and arrays begin at 0 here; each element counts among the jobs.
    if (line.starts_with("MaxArraySize ")) limits.max_array_size = value_of(line);
    if (line.starts_with("MaxJobCount ")) jobs = value_of(line);
    if (line.starts_with("ClusterName ")) limits.cluster = word_behind_equals(line);
  }
  if (jobs > 1) limits.max_array_size = std::min(limits.max_array_size, jobs - 1);
  limits.max_array_size = std::max(limits.max_array_size, 1);
  return limits;
}

SlurmLimits read_limits() {
  const std::optional<ProgramOutput> output = ask("scontrol", {"show", "config"});
  if (!output)
    throw Error(
        "--launcher slurm: scontrol cannot be run; call exp run on a machine from which jobs are submitted "
        "(exp doctor checks it)");
  if (!output->end.success())
    throw Error("--launcher slurm: Slurm does not answer: " + last_line(output->errors) +
                "; squeue shows whether it works at all");
  return parse_limits(output->output);
}

std::vector<QueuedJob> parse_queue(const std::string& lines) {
  std::vector<QueuedJob> jobs;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() < 6) continue;
    const bool array = number_in(fields[1]) > 0 || fields[1] == "0";
    jobs.push_back({.name = fields[2],
                    .element = number_in(fields[1]),
                    .id = fields[0] + (array ? "_" + fields[1] : ""),
                    .state = fields[3],
                    .reason = fields[4] == "None" ? "" : fields[4],
                    .nodes = fields[5]});
  }
  return jobs;
}

std::optional<std::vector<QueuedJob>> read_queue(const std::vector<std::string>& names) {
  if (names.empty()) return std::vector<QueuedJob>();
  const std::optional<ProgramOutput> output = ask(
      "squeue",
      {"--noheader", "--array", "--states=all", "--name=" + list_of(names), "--format=%F|%K|%j|%T|%r|%N"});
  if (!output || !output->end.success()) return std::nullopt;
  return parse_queue(output->output);
}

std::vector<QueuedJob> parse_accounts(const std::string& lines) {
  std::vector<QueuedJob> jobs;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() < 4) continue;
    const std::size_t at = fields[0].find('_');
    jobs.push_back({.name = fields[1],
                    .element = at == std::string::npos ? 0 : number_in(fields[0].substr(at + 1)),
                    .id = fields[0],
                    .state = first_word(fields[2]),
                    .reason = "",
                    .nodes = fields[3] == "None assigned" ? "" : fields[3]});
  }
  return jobs;
}

std::optional<std::vector<QueuedJob>> read_accounts(const std::vector<std::string>& names) {
  if (names.empty()) return std::vector<QueuedJob>();
  const std::optional<ProgramOutput> output =
      ask("sacct", {"--noheader", "--parsable2", "--allocations", "--starttime=now-30days",
                    "--name=" + list_of(names), "--format=JobID,JobName,State,NodeList"});
  if (!output || !output->end.success()) return std::nullopt;
  return parse_accounts(output->output);
}

namespace {

/// Returns "1234K" in bytes; nothing for what is not a number, 0, or Slurm's sign of an unknown value.
std::optional<double> amount_in(const std::string& text) {
  constexpr double more_than_any = 1e18;
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number <= 0.0) return std::nullopt;
  const std::string unit(end, text.data() + text.size());
  constexpr std::string_view units = "KMGTP";
  if (unit.size() == 1 && units.find(unit[0]) != std::string_view::npos)
    for (std::size_t power = 0; power <= units.find(unit[0]); ++power) number *= 1024.0;
  else if (!unit.empty())
    return std::nullopt;
  return number < more_than_any ? std::optional(number) : std::nullopt;
}

}  // namespace

std::vector<AccountedJob> parse_usage(const std::string& lines) {
  std::vector<AccountedJob> jobs;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() < 5) continue;
    const std::string id = fields[0].substr(0, fields[0].find('.'));
    const bool step = id.size() < fields[0].size();
    auto found = std::ranges::find_if(jobs, [&](const AccountedJob& one) { return one.job.id == id; });
    if (found == jobs.end()) {
      if (step) continue;
      const std::size_t at = id.find('_');
      jobs.push_back({.job = {.name = fields[1],
                              .element = at == std::string::npos ? 0 : number_in(id.substr(at + 1)),
                              .id = id}});
      found = jobs.end() - 1;
    }
    // A job's energy already includes its steps; a task's memory is known of steps alone.
    if (!step) {
      found->job.state = first_word(fields[2]);
      if (const auto joules = amount_in(fields[3])) found->joules = found->joules.value_or(0.0) + *joules;
    }
    if (const auto bytes = amount_in(fields[4]))
      found->peak_bytes = std::max(found->peak_bytes.value_or(0), static_cast<std::int64_t>(*bytes));
  }
  return jobs;
}

std::optional<std::vector<AccountedJob>> read_usage(const std::vector<std::string>& names) {
  if (names.empty()) return std::vector<AccountedJob>();
  const std::optional<ProgramOutput> output =
      ask("sacct", {"--noheader", "--parsable2", "--duplicates", "--noconvert", "--starttime=now-30days",
                    "--name=" + list_of(names), "--format=JobID,JobName,State,ConsumedEnergyRaw,MaxRSS"});
  if (!output || !output->end.success()) return std::nullopt;
  return parse_usage(output->output);
}

SubmitAnswer parse_submit(int exit_code, const std::string& output, const std::string& errors) {
  SubmitAnswer answer;
  // "12" or "12;cluster"
  const std::string id = output.substr(0, output.find_first_of(";\n"));
  if (exit_code == 0 && !id.empty() && id.find_first_not_of("0123456789") == std::string::npos) {
    answer.id = id;
    return answer;
  }
  answer.problem = last_line(errors);
  if (answer.problem.empty()) answer.problem = "sbatch ended with exit code " + std::to_string(exit_code);
  answer.later = std::ranges::any_of(
      later_texts, [&](const char* text) { return errors.find(text) != std::string::npos; });
  return answer;
}

SubmitAnswer submit(const std::vector<std::string>& options, const std::filesystem::path& script) {
  std::vector<std::string> arguments = options;
  arguments.push_back(script.string());
  const std::optional<ProgramOutput> output = ask("sbatch", arguments);
  if (!output) return {.problem = "sbatch cannot be run, or did not answer", .later = true};
  return parse_submit(output->end.success() ? 0 : 1, output->output, output->errors);
}

bool cancel(const QueuedJob& job) {
  const std::optional<ProgramOutput> output = ask("scancel", {job.id});
  return output && output->end.success();
}

bool cancel_by_name(const std::string& name) {
  const std::optional<ProgramOutput> output = ask("scancel", {"--name=" + name});
  return output && output->end.success();
}

}  // namespace encore::runner
