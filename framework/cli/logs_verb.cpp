// logs: what a run has said, attempt by attempt, read from its folder, so that it is there before it is in
// the database.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <thread>

#include "cli/access.hpp"
#include "cli/format.hpp"
#include "cli/run_display.hpp"
#include "cli/verbs.hpp"
#include "record/spool_reader.hpp"

namespace encore {

namespace {

/// What an event says in a line; empty for those that are only for programs.
std::string line_of(const nlohmann::json& event) {
  const auto text = [&](const char* key) {
    const auto found = event.find(key);
    return found == event.end() ? std::string()
           : found->is_string() ? found->get<std::string>()
                                : found->dump();
  };
  const std::string type = text("type");
  if (type == "log") return (text("level") == "info" ? "" : text("level") + ": ") + text("text");
  if (type == "started")
    return "started with " + text("parameters") + " parameters on " + text("threads") + " threads";
  if (type == "checkpoint") return "checkpoint of step " + text("step") + " (" + text("kind") + ")";
  if (type == "finished")
    return text("state") +
           (text("step") == "null" || text("step") == "0" ? " before the first step"
                                                          : " at step " + text("step")) +
           (text("reason").empty() ? "" : ": " + text("reason"));
  if (type != "measured" || !event.contains("measures") || !event["measures"].is_object()) return "";
  Measures measures;
  for (const auto& [name, value] : event["measures"].items())
    if (value.is_number()) measures[name] = value.get<double>();
  const std::string scores = measures_text(measures);
  return scores.empty() ? "" : "step " + text("step") + "  " + scores;
}

/// One attempt's spool and, behind it, what its worker wrote to its standard error.
class AttemptLog {
 public:
  explicit AttemptLog(const std::filesystem::path& spool)
      : reader_(spool), log_(std::filesystem::path(spool).replace_extension(".log")) {}

  void print_new() {
    SpoolRecord record;
    while (reader_.next(record)) {
      if (record.kind != SpoolKind::event) continue;
      const nlohmann::json event = record.event();
      const std::string line = line_of(event);
      if (line.empty()) continue;
      const auto time = event.find("time");
      std::cout << (time != event.end() && time->is_number() ? time_text(time->get<double>()) + "  " : "")
                << printable(line) << '\n';
    }
    std::ifstream in(log_, std::ios::binary);
    if (in.seekg(printed_)) {
      const std::string text(std::istreambuf_iterator<char>(in), {});
      std::cout << printable_lines(text);
      printed_ += static_cast<std::streamoff>(text.size());
    }
    std::cout.flush();
  }

 private:
  SpoolReader reader_;
  std::filesystem::path log_;
  std::streamoff printed_ = 0;
};

std::vector<std::filesystem::path> spools_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> spools;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure))
    if (entry.path().extension() == ".spool") spools.push_back(entry.path());
  std::sort(spools.begin(), spools.end());
  return spools;
}

}  // namespace

int logs_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line("logs",
                   {"logs RUN [-f]",
                    "Prints what a run has said: messages, scores, checkpoints, how its attempts ended, and "
                    "what its workers\n"
                    "wrote to their standard error.",
                    {{"exp logs quickstart -f", "print, and go on printing until the run has ended"}}});
  line.options()("follow,f", po::bool_switch(), "go on until the run has ended");
  line.positional("run");
  if (!line.parse(arguments)) return exit_done;

  const std::string name = line.required("run", "a run");
  Store store(line.database(), OpenMode::read);
  const RunRow run = store.find_run(name);
  const std::filesystem::path folder = store.run_folder(run.id);
  if (spools_in(folder).empty())
    std::cout << run.name << " (" << name_of(run.state) << ") has not said anything\n";

  std::vector<std::unique_ptr<AttemptLog>> logs;
  for (;;) {
    // Asked before reading: what was written before it ended is then printed for certain.
    const bool running = store.read_run(run.number).state == RunState::running;
    const auto spools = spools_in(folder);
    if (!logs.empty()) logs.back()->print_new();
    while (logs.size() < spools.size()) {
      std::cout << "-- attempt " << logs.size() + 1 << " --\n";
      logs.push_back(std::make_unique<AttemptLog>(spools[logs.size()]));
      logs.back()->print_new();
    }
    if (!line.flag("follow") || !running) return exit_done;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
}

}  // namespace encore
