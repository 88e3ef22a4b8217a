// SPDX-License-Identifier: BSD-3-Clause
// SlurmRunsTest: a run whose lease is held by a job of Slurm. Scripts in a folder of the test replace squeue,
// sacct and scancel: command() and queue() set their answers, in_queue() the state of the job.
// slurm_test.cpp, job_accounts_test.cpp and finished_submissions_test.cpp use it. The scripts must print what
// the real commands print.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "runner/job_files.hpp"
#include "runner/launched_runs.hpp"
#include "runner/slurm/queue_view.hpp"
#include "unit/store/store_fixture.hpp"

namespace encore::testing {

class SlurmRunsTest : public StoreTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(programs());
    const char* path = std::getenv("PATH");
    before_ = path == nullptr ? "" : path;
    ::setenv("PATH", (programs().string() + ":" + before_).c_str(), 1);
    command("squeue", "cat '" + (programs() / "queue").string() + "'");
    command("sacct", "exit 1");
    command("scancel", "echo \"$@\" >> '" + (programs() / "cancelled").string() + "'");
    queue("");
    submission_ = {.name = job_.submission, .submitter = world::this_process(), .queue_seconds = 0};
    record::Specification specification = specification_of();
    run_ = store().add_run(specification).run.number;
    lease_ = *store().begin_attempt(run_, runner::holder_of(job_));
  }
  void TearDown() override { ::setenv("PATH", before_.c_str(), 1); }

  std::filesystem::path programs() { return store().runs_folder().parent_path() / "programs"; }
  void command(const std::string& name, const std::string& line) {
    std::ofstream(programs() / name) << "#!/bin/sh\n" << line << "\n";
    ::chmod((programs() / name).c_str(), 0755);
  }
  void queue(const std::string& lines) { std::ofstream(programs() / "queue") << lines; }
  void in_queue(const std::string& state, const std::string& reason, const std::string& nodes) {
    queue("12|3|" + job_.submission + "|" + state + "|" + reason + "|" + nodes + "\n");
  }
  /// Saves the submission as job 12, submitted an hour ago.
  void submitted() {
    submission_.stage = runner::SubmissionStage::submitted;
    submission_.job = "12";
    submission_.tries = {world::now_seconds() - 3600.0};
    save();
  }
  void save() { runner::save_submission(store().runs_folder(), submission_); }
  /// Writes the report of the keeper of attempt 1.
  void report(runner::JobReport report) {
    report.token = lease_.token;
    report.host = "n1";
    report.pid = 5;
    report.time = world::now_seconds();
    runner::write_report(folder(), 1, report);
  }
  /// Moves the recorded end of the job `seconds` seconds into the past.
  void shift_end(double seconds) {
    nlohmann::json seen = store().read_note(lease_, "job");
    seen["over_since"] = seen.at("over_since").get<double>() - seconds;
    store().replace_note(lease_, "job", seen);
  }
  std::filesystem::path folder() { return store().run_folder(lease_.run_id); }
  bool settle() { return !runner::settle_launched(store()).empty(); }
  store::RunRow run() { return store().read_run(run_); }
  std::string note() {
    const std::optional<runner::SchedulerNote> note = runner::scheduler_note(store(), run());
    return note ? note->text : "none";
  }
  void expect_reason(const std::string& part) {
    EXPECT_NE(run().reason.find(part), std::string::npos) << run().reason;
  }

  const runner::JobName job_{"encore-0123456789ab", 3};
  std::string before_;
  runner::Submission submission_;
  std::int64_t run_ = 0;
  store::Lease lease_;
};

}  // namespace encore::testing
