// SPDX-License-Identifier: BSD-3-Clause
// Tests keep_jobs() (runner/job_keeper.hpp) in a job that Slurm stops and restarts (requeues): the orders on
// which it works, and which keeper may begin the next attempt of a run. The token in the file `lease` of a
// run's folder decides; two keepers must never train one attempt. job_keeper_test.cpp tests requests.
#include "runner/job_keeper.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "runner/attempt_end.hpp"
#include "runner/job_files.hpp"
#include "store/store.hpp"
#include "unit/record/temporary_folder.hpp"
#include "world/atomic_file.hpp"

namespace encore::testing {
namespace {

class RequeuedJobTest : public ::testing::Test {
 protected:
  /// Writes a worker that logs its command line and then runs `line`.
  std::filesystem::path worker(const std::string& line) {
    const std::filesystem::path program = folder_.path() / "worker";
    std::ofstream(program) << "#!/bin/sh\necho \"$@\" >> '" << (folder_.path() / "calls").string() << "'\n"
                           << line << "\n";
    ::chmod(program.c_str(), 0755);
    return program;
  }
  std::filesystem::path order(const std::string& name, const std::filesystem::path& program) {
    runner::WorkOrder order{.program = program,
                            .arguments = {"train", "--attempt", "1", "--lease", "1-first"},
                            .run_folder = folder_.path() / name,
                            .log = folder_.path() / name / runner::log_name(1),
                            .attempt = 1,
                            .token = "1-first",
                            .job = "encore-0123456789ab_0"};
    std::filesystem::create_directories(order.run_folder);
    runner::save_order(order, {});
    lease(name, "1-first");
    return runner::order_file(order.run_folder, 1);
  }
  void lease(const std::string& name, const std::string& token) {
    world::replace_file(folder_.path() / name / store::lease_file_name, token + "\n");
  }
  std::string lease_in(const std::string& name) {
    std::ifstream in(folder_.path() / name / store::lease_file_name);
    std::string token;
    in >> token;
    return token;
  }
  void report(const std::string& name, runner::JobReport report) {
    report.token = "1-first";
    report.host = "n1";
    report.beats = 3;
    runner::write_report(folder_.path() / name, 1, report);
  }
  std::vector<std::string> calls() {
    std::ifstream in(folder_.path() / "calls");
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  runner::KeptJobs keep(const std::vector<std::filesystem::path>& orders,
                        std::chrono::seconds spread = std::chrono::hours(1)) {
    return runner::keep_jobs(orders, {.stop = stop_, .yield = yield_, .spread = spread});
  }

  TemporaryFolder folder_;
  std::atomic<int> stop_{0}, yield_{0};
};

TEST_F(RequeuedJobTest, WorksThroughItsOrdersAndSkipsRunsThatHaveEnded) {
  const auto program = worker("exit 0");
  const std::vector<std::filesystem::path> orders = {order("a", program), order("b", program)};
  report("a", {.end = runner::ProcessEnd{1, 0}});
  const runner::KeptJobs kept = keep(orders);
  EXPECT_EQ(kept.unfinished, 0);
  EXPECT_EQ(calls().size(), 1u);
  EXPECT_TRUE(runner::read_report(folder_.path() / "b", 1)->end->success());
  EXPECT_EQ(keep(orders).unfinished, 0);
  EXPECT_EQ(calls().size(), 1u) << "the same job again has nothing to do";
}

TEST_F(RequeuedJobTest, BeginsAnotherAttemptWhereAFormerKeeperWasAtWork) {
  const auto file = order("a", worker("exit 0"));
  report("a", {});
  EXPECT_EQ(keep({file}).unfinished, 0);
  ASSERT_EQ(calls().size(), 1u);
  const std::optional<runner::Succession> next = runner::read_succession(folder_.path() / "a", 1);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->of, "1-first");
  EXPECT_EQ(next->attempt, 2);
  EXPECT_NE(next->token, "1-first");
  EXPECT_EQ(calls()[0].substr(0, calls()[0].find(" --control")), "train --attempt 2 --lease " + next->token);
  EXPECT_EQ(lease_in("a"), next->token);
  EXPECT_TRUE(runner::read_report(folder_.path() / "a", 2)->end->success());
  EXPECT_FALSE(runner::read_report(folder_.path() / "a", 1)->end) << "the other one's report stays";
}

TEST_F(RequeuedJobTest, AThirdStartFollowsTheSecond) {
  const auto file = order("a", worker("kill -9 $$"));
  report("a", {});
  keep({file});
  keep({file});
  EXPECT_EQ(calls().size(), 1u) << "the second attempt has ended, with a signal";
  // The files look as if the keeper had died with its worker.
  const runner::Succession next = *runner::read_succession(folder_.path() / "a", 1);
  runner::write_report(folder_.path() / "a", 2, {.token = next.token, .host = "n1", .beats = 9});
  keep({file});
  ASSERT_EQ(calls().size(), 2u);
  EXPECT_NE(calls()[1].find("--attempt 3"), std::string::npos);
}

TEST_F(RequeuedJobTest, AWorkerThatGetsTheSignalFirstHasNotFailed) {
  const std::filesystem::path process = folder_.path() / "process";
  const auto file = order("a", worker("echo $$ > '" + process.string() + ".new'; mv '" + process.string() +
                                      ".new' '" + process.string() + "'; kill -TERM $$"));
  std::thread scheduler([&] {
    while (!std::filesystem::exists(process)) std::this_thread::yield();
    pid_t id = 0;
    std::ifstream(process) >> id;
    // The keeper has collected its child and knows of the end without a message.
    while (::kill(id, 0) == 0) std::this_thread::yield();
    ++stop_;
  });
  EXPECT_EQ(keep({file}).unfinished, 1);
  scheduler.join();
  const std::optional<runner::JobReport> report = runner::read_report(folder_.path() / "a", 1);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->yielded, "its job was asked to end (by scancel, or by preemption)");
}

TEST_F(RequeuedJobTest, AWorkerThatAnotherProcessEndedHasFailed) {
  const runner::KeptJobs kept = keep({order("a", worker("kill -TERM $$"))}, std::chrono::seconds(0));
  EXPECT_EQ(kept.unfinished, 1);
  const std::optional<runner::JobReport> report = runner::read_report(folder_.path() / "a", 1);
  ASSERT_TRUE(report && report->end);
  EXPECT_EQ(report->end->signal, SIGTERM);
  EXPECT_EQ(report->yielded, "");
}

TEST_F(RequeuedJobTest, AKeeperThatWasKilledBetweenSuccessionAndLeaseIsFollowed) {
  const auto file = order("a", worker("exit 0"));
  report("a", {});
  runner::save_succession(folder_.path() / "a", 1,
                          {.of = "1-first", .attempt = 2, .token = "2-t", .reason = "x"});
  EXPECT_EQ(keep({file}).unfinished, 0);
  ASSERT_EQ(calls().size(), 1u);
  EXPECT_NE(calls()[0].find("--attempt 2 --lease 2-t"), std::string::npos);
  EXPECT_EQ(lease_in("a"), "2-t");
}

TEST_F(RequeuedJobTest, OfTwoKeepersOneMakesTheNextAttempt) {
  std::filesystem::create_directories(folder_.path() / "a");
  const runner::Succession one = runner::save_succession(
      folder_.path() / "a", 1, {.of = "1-first", .attempt = 2, .token = "2-a", .reason = "x"});
  const runner::Succession two = runner::save_succession(
      folder_.path() / "a", 1, {.of = "1-first", .attempt = 2, .token = "2-b", .reason = "x"});
  EXPECT_EQ(one.token, "2-a");
  EXPECT_EQ(two.token, "2-a");
}

TEST_F(RequeuedJobTest, LeavesARunThatWasTakenOver) {
  const auto file = order("a", worker("exit 0"));
  lease("a", "5-other");
  EXPECT_EQ(keep({file}).unfinished, 1);
  EXPECT_TRUE(calls().empty());
  EXPECT_EQ(lease_in("a"), "5-other");
}

TEST_F(RequeuedJobTest, BeforeTheTimeLimitTheRestIsLeftForTheSameJobLater) {
  const auto program = worker("exit 0");
  const std::vector<std::filesystem::path> orders = {order("a", program), order("b", program)};
  report("a", {.end = runner::ProcessEnd{0, 0}});
  yield_ = 1;
  const runner::KeptJobs kept = keep(orders);
  EXPECT_TRUE(kept.begin_again);
  EXPECT_TRUE(calls().empty());
  EXPECT_FALSE(runner::read_report(folder_.path() / "b", 1)) << "a run that was not begun has no report";
}

TEST_F(RequeuedJobTest, ASignalOfSlurmIsAnEndThatSlurmHasAskedFor) {
  // It ends after its keeper has passed the signal on, and gives it enough time to do what it must not do.
  const auto file = order("a", worker("read -r command <&3; sleep 0.2; exit 75"));
  std::thread signal([this] {
    while (calls().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    stop_ = 2;
  });
  const runner::KeptJobs kept = keep({file});
  signal.join();
  EXPECT_EQ(kept.unfinished, 1);
  EXPECT_FALSE(kept.begin_again) << "Slurm itself begins again, or does not";
  const runner::JobReport report = *runner::read_report(folder_.path() / "a", 1);
  EXPECT_EQ(report.end->exit_code, 75) << "and was not killed by the second signal";
  EXPECT_FALSE(report.yielded.empty());
}

TEST_F(RequeuedJobTest, ARunThatWasStoppedMeanwhileIsNotBegun) {
  const auto file = order("a", worker("exit 0"));
  report("a", {});
  std::ofstream(folder_.path() / "a" / "stop-1") << "stop\n";
  EXPECT_EQ(keep({file}).unfinished, 1);
  EXPECT_TRUE(calls().empty());
  EXPECT_FALSE(runner::read_report(folder_.path() / "a", 1)->problem.empty());
}

}  // namespace
}  // namespace encore::testing
