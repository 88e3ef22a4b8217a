// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes the job files, by which a keeper and control programs communicate through a run's folder.
// Writes are atomic, because readers on other machines poll the files. An older or newer `exp` may be at the
// other end, so members keep their names. Read job_files.hpp first.
#include "runner/job_files.hpp"

#include <system_error>

#include <nlohmann/json.hpp>

#include "base/input_file.hpp"
#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "record/spool.hpp"
#include "runner/stop_request.hpp"
#include "world/atomic_file.hpp"

namespace encore::runner {

namespace {

constexpr std::size_t most_job_bytes = std::size_t{1} << 20;

std::filesystem::path beside_spool(const std::filesystem::path& run_folder, int attempt, const char* ending) {
  return (run_folder / record::spool_name(attempt)).replace_extension(ending);
}

std::filesystem::path request_path(const std::filesystem::path& run_folder, int attempt,
                                   record::ControlCommand command) {
  return run_folder / (std::string(record::name_of(command)) + "-" + std::to_string(attempt));
}

/// Returns null if the file has no readable JSON.
nlohmann::json content_of_job_file(const std::filesystem::path& file) {
  std::error_code unreadable;
  if (!std::filesystem::is_regular_file(file, unreadable)) return nullptr;
  try {
    return json_or_null(read_file(file, most_job_bytes));
  } catch (const UnreadableFile&) {
    return nullptr;
  }
}

}  // namespace

std::filesystem::path order_file(const std::filesystem::path& run_folder, int attempt) {
  return beside_spool(run_folder, attempt, ".order");
}

void save_order(const WorkOrder& order, const WorkerPlace& place) {
  const nlohmann::json json = {{"attempt", order.attempt},
                               {"token", order.token},
                               {"program", order.program.string()},
                               {"arguments", order.arguments},
                               {"output", order.log.string()},
                               {"variables", place.variables},
                               {"rank_launcher", place.rank_launcher},
                               {"job", order.job},
                               {"step_timeout", order.step_timeout.count()}};
  world::save_file(order_file(order.run_folder, order.attempt), json.dump(1) + "\n");
}

StoredOrder load_order(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file))
    throw Error("no order " + file.string() + " on " + world::this_process().host +
                ": the folder of the database must lie on a file system that this machine shares with the "
                "one where exp run was called, under the same path");
  StoredOrder stored;
  try {
    const nlohmann::json json = parse_json(read_file(file, most_job_bytes));
    WorkOrder& order = stored.order;
    order.program = json.at("program").get<std::string>();
    order.arguments = json.at("arguments").get<std::vector<std::string>>();
    order.run_folder = file.parent_path();
    order.log = json.at("output").get<std::string>();
    order.attempt = json.at("attempt").get<int>();
    order.token = json.at("token").get<std::string>();
    order.job = json.value("job", std::string());
    order.step_timeout = std::chrono::seconds(json.value("step_timeout", std::int64_t{0}));
    stored.place.variables = json.at("variables").get<std::map<std::string, std::string>>();
    stored.place.rank_launcher = json.value("rank_launcher", std::vector<std::string>());
  } catch (const nlohmann::json::exception& error) {
    throw Error(file.string() + " is not an order of exp run: " + error.what());
  } catch (const JsonError& error) {
    throw Error(file.string() + " is not an order of exp run: " + error.what());
  }
  return stored;
}

void write_report(const std::filesystem::path& run_folder, int attempt, const JobReport& report) {
  nlohmann::json json = {{"token", report.token}, {"host", report.host}, {"pid", report.pid},
                         {"beats", report.beats}, {"time", report.time}, {"problem", report.problem}};
  if (!report.yielded.empty()) json["yielded"] = report.yielded;
  if (report.silent.count() > 0) json["silent"] = report.silent.count();
  if (report.end) json["end"] = {{"exit_code", report.end->exit_code}, {"signal", report.end->signal}};
  world::replace_file(beside_spool(run_folder, attempt, ".job"), json.dump() + "\n");
}

std::optional<JobReport> read_report(const std::filesystem::path& run_folder, int attempt) {
  const nlohmann::json json = content_of_job_file(beside_spool(run_folder, attempt, ".job"));
  try {
    if (!json.is_object()) return std::nullopt;
    JobReport report{.token = json.at("token"),
                     .host = json.at("host"),
                     .pid = json.at("pid"),
                     .beats = json.at("beats"),
                     .time = json.at("time"),
                     .silent = std::chrono::seconds(json.value("silent", std::int64_t{0})),
                     .problem = json.at("problem"),
                     .yielded = json.value("yielded", std::string())};
    if (json.contains("end")) report.end = ProcessEnd{json["end"].at("exit_code"), json["end"].at("signal")};
    return report;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

static void list(auto& field, A<Succession> auto& next) {
  field("of", next.of);
  field("attempt", next.attempt);
  field("token", next.token);
  field("reason", next.reason);
}

Succession save_succession(const std::filesystem::path& run_folder, int attempt, const Succession& wanted) {
  const std::filesystem::path file = beside_spool(run_folder, attempt, ".next");
  // Only one of two processes can make a link, also on a network file system.
  const std::filesystem::path aside = file.string() + "." + wanted.token + std::string(world::aside_suffix);
  world::save_file(aside, to_json_object(wanted).dump() + "\n");
  std::error_code there, ignored;
  std::filesystem::create_hard_link(aside, file, there);
  std::filesystem::remove(aside, ignored);
  const std::optional<Succession> stands = read_succession(run_folder, attempt);
  if (!stands) throw Error("cannot write " + file.string() + (there ? ": " + there.message() : ""));
  return *stands;
}

std::optional<Succession> read_succession(const std::filesystem::path& run_folder, int attempt) {
  try {
    return from_json_object<Succession>(content_of_job_file(beside_spool(run_folder, attempt, ".next")));
  } catch (const FieldError&) {
    return std::nullopt;
  }
}

std::string silence_text(const std::string& host) {
  return "no sign of life from " + host + " for more than " + std::to_string(longest_silence.count()) +
         " s: the machine, or what it shares with this one, is down";
}

void request_command(const std::filesystem::path& run_folder, int attempt, record::ControlCommand command) {
  if (command == record::ControlCommand::stop) return request_stop(run_folder, attempt, StopWish::checkpoint);
  world::save_file(request_path(run_folder, attempt, command), "");
}

bool take_request(const std::filesystem::path& run_folder, int attempt, record::ControlCommand command) {
  if (command == record::ControlCommand::stop) return requested_stop(run_folder, attempt) != StopWish::none;
  std::error_code absent;
  return std::filesystem::remove(request_path(run_folder, attempt, command), absent);
}

}  // namespace encore::runner
