// SPDX-License-Identifier: BSD-3-Clause
// `exp logs`: reads the spools and log files of runs in their folders, and follows them. cli/logs_verb.cpp
// calls read_logs() and prints each entry. A worker may be writing these files, so a record without its end
// is read again later. Read next: logs.hpp.
#include "app/logs.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "runner/launched_runs.hpp"
#include "store/metrics.hpp"

namespace encore::app {

namespace {

using Take = std::function<void(LogEntry)>;

/// The spool of one attempt, and the standard error of its worker.
class AttemptLog {
 public:
  AttemptLog(const std::filesystem::path& spool, const std::string& run)
      : reader_(spool, {run, 0}), log_(std::filesystem::path(spool).replace_extension(".log")) {}

  void read_new(const Take& take) {
    record::SpoolRecord record;
    while (reader_.next(record)) {
      if (record.kind == record::SpoolKind::metric)
        define(store::metric_from(record.name, record.unit, record.meaning));
      if (record.kind != record::SpoolKind::event) continue;
      const record::ReadEvent event = record.event();
      take({.event = &event, .metrics = &metrics_});
    }
    if ((reader_.end() == record::SpoolEnd::refused || reader_.end() == record::SpoolEnd::damaged) &&
        problem_ != reader_.problem()) {
      problem_ = reader_.problem();
      take({.text = problem_, .is_problem = true});
    }
    std::ifstream in;
    if (std::filesystem::is_regular_file(log_)) in.open(log_, std::ios::binary);
    if (in.seekg(read_)) {
      std::string text(std::istreambuf_iterator<char>(in), {});
      read_ += static_cast<std::streamoff>(text.size());
      if (!text.empty()) take({.text = std::move(text)});
    }
  }

 private:
  void define(const Metric& metric) {
    const auto known = std::ranges::find(metrics_, metric.name, &Metric::name);
    if (known == metrics_.end())
      metrics_.push_back(metric);
    else
      *known = metric;
  }

  record::SpoolReader reader_;
  std::filesystem::path log_;
  std::vector<Metric> metrics_;  ///< as the spool defines them
  std::string problem_;          ///< reported already
  std::streamoff read_ = 0;
};

std::vector<std::filesystem::path> spools_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> spools;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure))
    if (entry.path().extension() == ".spool") spools.push_back(entry.path());
  std::sort(spools.begin(), spools.end());
  return spools;
}

/// All attempts of a run, including those that begin while the run is followed.
class RunLog {
 public:
  RunLog(const store::Store& store, store::RunRow run)
      : run_(std::move(run)), folder_(store.run_folder(run_.id)) {}

  const store::RunRow& run() const { return run_; }

  void read_new(const Take& take) {
    const auto spools = spools_in(folder_);
    if (spools.empty() && !is_empty_) take(LogEntry());
    is_empty_ = spools.empty();
    const std::size_t known = attempts_.size();
    for (std::size_t i = known == 0 ? 0 : known - 1; i < spools.size(); ++i) {
      if (i >= known) attempts_.push_back(std::make_unique<AttemptLog>(spools[i], run_.id));
      if (i >= known) take({.attempt = i + 1});
      attempts_[i]->read_new([&](LogEntry entry) {
        entry.attempt = i + 1;
        take(std::move(entry));
      });
    }
  }

 private:
  store::RunRow run_;
  std::filesystem::path folder_;
  bool is_empty_ = false;  ///< it was reported that nothing was logged
  std::vector<std::unique_ptr<AttemptLog>> attempts_;
};

}  // namespace

Form<LogsRequest> logs_form() {
  using R = LogsRequest;
  return Form<R>("logs", {"logs RUN... [-f]",
                          "Prints the logs of runs: messages, scores, checkpoints, the ends of their "
                          "attempts, and the standard error of their workers. With several runs, each part "
                          "has the run's name as its title.",
                          {{"exp logs quickstart -f", "print the log until the run has ended"},
                           {"exp logs --state completed", "print the logs of all complete runs"}}})
      .flag("follow,f", &R::follow, "follow the logs until all runs have ended")
      .flag("json", &R::json, "print JSON, a line for each message")
      .include(&R::selection, run_arguments());
}

void read_logs(const LogsRequest& request, const App& app,
               const std::function<void(const store::RunRow& run, const LogEntry& entry)>& take) {
  store::Store store(app.database, store::OpenMode::read);
  std::vector<RunLog> logs;
  for (const store::RunRow& run : selected_runs(app, store, selection_from(request.selection)).runs)
    logs.emplace_back(store, run);
  for (;;) {
    bool running = false;
    runner::settle_launched_in_passing(app.database);
    for (RunLog& log : logs) {
      // The state is read first, so everything that was written before the run ended is printed.
      running = store.read_run(log.run().number).state == store::RunState::running || running;
      log.read_new([&](LogEntry entry) {
        entry.of_several = logs.size() > 1;
        take(log.run(), entry);
      });
    }
    if (!request.follow || !running) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
}

}  // namespace encore::app
