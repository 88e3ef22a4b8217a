// SPDX-License-Identifier: BSD-3-Clause
// Tests keep_jobs() (runner/job_keeper.hpp), what `exp job` does on the machine of a launched worker: it
// passes on requests that lie as files in the run's folder, kills a worker that does not react, and counts
// orders that did not end well. An order is a file that says which run to start; its form is a contract
// between two machines. requeued_job_test.cpp tests jobs that Slurm restarts.
#include "runner/job_keeper.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "record/events.hpp"
#include "record/spool.hpp"
#include "runner/job_files.hpp"
#include "runner/stop_request.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::runner {
namespace {

namespace fs = std::filesystem;

/// A bash script as worker, and its keeper in a thread.
class JobKeeperTest : public ::testing::Test {
 protected:
  ~JobKeeperTest() override {
    stop_requests_ = 2;
    if (keeper_.joinable()) keeper_.join();
  }

  /// Lets the keeper start attempt 1 with this script, whose descriptor 3 is the control pipe.
  void begin(const std::string& script, std::chrono::seconds step_timeout = std::chrono::seconds(0)) {
    std::ofstream(folder() / "lease") << "token\n";
    save_order({.program = "/bin/bash",
                .arguments = {"-c", script, "bash"},
                .run_folder = folder(),
                .log = folder() / "log",
                .attempt = 1,
                .token = "token",
                .step_timeout = step_timeout},
               {});
    keeper_ = std::thread([this] {
      unfinished_ =
          keep_jobs({order_file(folder(), 1)}, {.stop = stop_requests_, .yield = yield_}).unfinished;
    });
  }
  /// Returns the number of orders that did not end well.
  int end() {
    keeper_.join();
    return unfinished_;
  }
  std::string log() const {
    std::ifstream in(folder() / "log");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static bool eventually(const std::function<bool()>& condition) {
    for (int i = 0; i < 60000 && !condition(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return condition();
  }
  fs::path request(const char* name) const { return folder() / name; }
  fs::path folder() const { return folder_.path(); }

  /// Logs each command, and ends on a request to stop.
  const std::string obedient_ =
      "echo ready; while read -r line <&3; do echo \"$line\"; if [ \"$line\" = stop ]; then exit 75; fi; "
      "done";

 private:
  testing::TemporaryFolder folder_;
  std::atomic<int> stop_requests_ = 0, yield_ = 0;
  int unfinished_ = -1;
  std::thread keeper_;
};

TEST_F(JobKeeperTest, PassesOnEachRequestOnceAndRemovesIt) {
  begin(obedient_);
  ASSERT_TRUE(eventually([&] { return log() == "ready\n"; })) << log();
  request_command(folder(), 1, record::ControlCommand::checkpoint);
  ASSERT_TRUE(fs::exists(request("checkpoint-1")) || log() != "ready\n");
  ASSERT_TRUE(eventually([&] { return log() == "ready\ncheckpoint\n"; })) << log();
  EXPECT_FALSE(fs::exists(request("checkpoint-1")));
  request_command(folder(), 1, record::ControlCommand::prune);
  ASSERT_TRUE(eventually([&] { return log() == "ready\ncheckpoint\nprune\n"; })) << log();
  EXPECT_FALSE(fs::exists(request("prune-1")));
  request_command(folder(), 1, record::ControlCommand::checkpoint);
  ASSERT_TRUE(eventually([&] { return log() == "ready\ncheckpoint\nprune\ncheckpoint\n"; })) << log();
  request_command(folder(), 1, record::ControlCommand::stop);
  EXPECT_EQ(end(), 1);
  EXPECT_EQ(log(), "ready\ncheckpoint\nprune\ncheckpoint\nstop\n");
  EXPECT_EQ(requested_stop(folder(), 1), StopWish::checkpoint)
      << "the request stays for readers of the run's end";
  const std::optional<JobReport> report = read_report(folder(), 1);
  ASSERT_TRUE(report && report->end);
  EXPECT_EQ(report->end->exit_code, 75);
}

TEST_F(JobKeeperTest, RequestsToAnotherAttemptStay) {
  begin(obedient_);
  ASSERT_TRUE(eventually([&] { return log() == "ready\n"; })) << log();
  for (const record::ControlCommand command :
       {record::ControlCommand::checkpoint, record::ControlCommand::prune})
    request_command(folder(), 2, command);
  request_stop(folder(), 2, StopWish::kill);
  request_command(folder(), 1, record::ControlCommand::checkpoint);
  ASSERT_TRUE(eventually([&] { return log() == "ready\ncheckpoint\n"; })) << log();
  EXPECT_TRUE(fs::exists(request("checkpoint-2")) && fs::exists(request("prune-2")));
  request_command(folder(), 1, record::ControlCommand::stop);
  EXPECT_EQ(end(), 1);
}

TEST_F(JobKeeperTest, KillEndsAWorkerThatIgnoresRequests) {
  begin("trap '' TERM; trap 'echo last word; exit 9' QUIT; echo ready; while true; do sleep 0.05; done");
  ASSERT_TRUE(eventually([&] { return log() == "ready\n"; })) << log();
  request_stop(folder(), 1, StopWish::kill);
  EXPECT_EQ(end(), 1);
  EXPECT_EQ(log(), "ready\nlast word\n") << "the worker may report what it was doing";
  EXPECT_EQ(read_report(folder(), 1)->end->exit_code, 9);
}

TEST_F(JobKeeperTest, KillWaitsALimitedTimeForALastRecord) {
  begin("trap '' TERM QUIT; echo ready; while true; do sleep 0.05; done");
  ASSERT_TRUE(eventually([&] { return log() == "ready\n"; })) << log();
  request_stop(folder(), 1, StopWish::kill);
  EXPECT_EQ(end(), 1);
  EXPECT_EQ(read_report(folder(), 1)->end->signal, 9);
}

TEST_F(JobKeeperTest, AWorkerThatTrainsAndWritesNothingIsKilledAfterItsTime) {
  begin("trap 'echo last word; exit 9' QUIT; echo ready; while true; do sleep 0.05; done",
        std::chrono::seconds(1));
  ASSERT_TRUE(eventually([&] { return log() == "ready\n"; }))
      << log();  // before that its time does not count
  record::SpoolWriter spool(folder() / record::spool_name(1), 1);
  spool.event(record::Started{.parameters = 7});
  spool.flush();
  EXPECT_EQ(end(), 1);
  EXPECT_EQ(log(), "ready\nlast word\n");
  EXPECT_EQ(read_report(folder(), 1)->silent.count(), 1);
}

TEST_F(JobKeeperTest, AWorkerThatStillReadsItsDataIsNotKilled) {
  record::SpoolWriter spool(folder() / record::spool_name(1), 1);
  spool.flush();
  begin("sleep 3", std::chrono::seconds(1));
  EXPECT_EQ(end(), 0);
  EXPECT_EQ(read_report(folder(), 1)->silent.count(), 0);
}

TEST_F(JobKeeperTest, AStopRequestBeforeTheStartKeepsTheWorkerFromStarting) {
  request_stop(folder(), 1, StopWish::kill);
  begin(obedient_);
  EXPECT_EQ(end(), 1);
  EXPECT_EQ(log(), "");
  EXPECT_EQ(read_report(folder(), 1)->problem, "it was asked to stop before its worker began");
}

}  // namespace
}  // namespace encore::runner
