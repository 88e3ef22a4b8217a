// logs: what runs have said, attempt by attempt, read from their folders, so that it is there before it is in
// the database.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

#include "cli/access.hpp"
#include "cli/format.hpp"
#include "cli/run_display.hpp"
#include "cli/run_selection.hpp"
#include "cli/verbs.hpp"
#include "record/spool_reader.hpp"
#include "runner/launched_runs.hpp"
#include "store/metrics.hpp"

namespace encore {

namespace {

/// What an event says in a line; empty for those that are only for programs.
std::string line_of(const ReadEvent& read, const std::vector<Metric>& metrics) {
  if (!read.problem.empty()) return "an event that cannot be read: " + read.problem;
  if (!read.event) return "";
  std::string text;
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value ? std::to_string(*value) : "an unknown number of";
  };
  handle(
      *read.event, [&](const Logged& line) { text = log_text(line); },
      [&](const Started& started) {
        text = "started with " + number(started.parameters) + " parameters on " + number(started.threads) +
               (started.threads == 1 ? " thread" : " threads");
      },
      [&](const Saved& saved) {
        text = "checkpoint of step " + std::to_string(saved.step) + " (" + name_of(saved.kind) + ")";
      },
      [&](const Evaluated& scores) {
        text = measures_text(scores.measures, metrics, "");
        if (!text.empty()) text = "step " + std::to_string(scores.step) + "  " + text;
      },
      [&](const Ended& ended) {
        text = name_of(ended.ending);
        text += ended.step.value_or(0) == 0 ? " before the first step" : " at step " + number(ended.step);
        if (!ended.reason.empty()) text += ": " + ended.reason;
      });
  return text;
}

/// One attempt's spool and, behind it, what its worker wrote to its standard error.
class AttemptLog {
 public:
  AttemptLog(const std::filesystem::path& spool, const std::string& run)
      : reader_(spool, {run, 0}), log_(std::filesystem::path(spool).replace_extension(".log")) {}

  void print_new(std::ostream& out) {
    SpoolRecord record;
    while (reader_.next(record)) {
      if (record.kind == SpoolKind::metric)
        define(metrics_, metric_from(record.name, record.unit, record.meaning));
      if (record.kind != SpoolKind::event) continue;
      const ReadEvent event = record.event();
      const std::string line = line_of(event, metrics_);
      if (line.empty()) continue;
      out << (event.time > 0.0 ? time_text(event.time) + "  " : "") << printable(line) << '\n';
    }
    if ((reader_.end() == SpoolEnd::refused || reader_.end() == SpoolEnd::damaged) &&
        problem_ != reader_.problem()) {
      problem_ = reader_.problem();
      out << printable(problem_) << '\n';
    }
    std::ifstream in;
    if (std::filesystem::is_regular_file(log_)) in.open(log_, std::ios::binary);
    if (in.seekg(printed_)) {
      const std::string text(std::istreambuf_iterator<char>(in), {});
      out << printable_lines(text);
      printed_ += static_cast<std::streamoff>(text.size());
    }
  }

 private:
  SpoolReader reader_;
  std::filesystem::path log_;
  std::vector<Metric> metrics_;  ///< as the spool defines them
  std::string problem_;          ///< printed already
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

/// All attempts of a run, with those that begin while it is followed.
class RunLog {
 public:
  RunLog(const Store& store, const RunRow& run)
      : number_(run.number),
        id_(run.id),
        name_(run.name),
        state_(name_of(run.state)),
        folder_(store.run_folder(run.id)) {}

  std::int64_t number() const { return number_; }
  const std::string& name() const { return name_; }

  /// What came since it was asked last.
  std::string news() {
    std::ostringstream out;
    const auto spools = spools_in(folder_);
    if (spools.empty() && !silent_) out << name_ << " (" << state_ << ") has not said anything\n";
    silent_ = spools.empty();
    if (!attempts_.empty()) attempts_.back()->print_new(out);
    while (attempts_.size() < spools.size()) {
      out << "-- attempt " << attempts_.size() + 1 << " --\n";
      attempts_.push_back(std::make_unique<AttemptLog>(spools[attempts_.size()], id_));
      attempts_.back()->print_new(out);
    }
    return out.str();
  }

 private:
  std::int64_t number_;
  std::string id_, name_, state_;
  std::filesystem::path folder_;
  bool silent_ = false;  ///< it was said that nothing was said
  std::vector<std::unique_ptr<AttemptLog>> attempts_;
};

}  // namespace

int logs_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line(
      "logs",
      {"logs RUN... [-f]",
       "Prints what runs have said: messages, scores, checkpoints, how their attempts ended, and what their "
       "workers wrote to their standard error. Of several runs each part is headed by the run's name.",
       {{"exp logs quickstart -f", "print, and go on printing until the run has ended"},
        {"exp logs --state completed", "what all complete runs have said"}}});
  line.options()("follow,f", po::bool_switch(), "go on until all of them have ended");
  add_run_arguments(line);
  if (!line.parse(arguments)) return exit_done;

  Store store(line.database(), OpenMode::read);
  std::vector<RunLog> logs;
  for (const RunRow& run : selected_runs(line, store, selection_from(line)).runs)
    logs.emplace_back(store, run);
  const RunLog* heard = nullptr;  // who spoke last
  for (;;) {
    bool running = false;
    settle_launched_in_passing(line.database());
    for (RunLog& log : logs) {
      // Asked before reading: what was written before it ended is then printed for certain.
      running = store.read_run(log.number()).state == RunState::running || running;
      const std::string text = log.news();
      if (text.empty()) continue;
      if (logs.size() > 1 && heard != &log)
        std::cout << (heard != nullptr ? "\n" : "") << "== " << log.name() << " ==\n";
      heard = &log;
      std::cout << text << std::flush;
    }
    if (!line.flag("follow") || !running) return exit_done;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
}

}  // namespace encore
