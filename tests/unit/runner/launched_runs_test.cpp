// SPDX-License-Identifier: BSD-3-Clause
// Tests settle_launched() (runner/launched_runs.hpp), the check that `exp run`, `status` and `ls` make of
// launched runs that no control program follows: when such a run counts as lost, interrupted or ended. A
// clock alone must never end a run, because clocks of machines differ. Names of the stored note "job" must
// stay; the words of reasons may change.
#include "runner/launched_runs.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runner/job_files.hpp"
#include "unit/store/store_fixture.hpp"

namespace encore::testing {
namespace {

class LaunchedRunsTest : public StoreTest {
 protected:
  void SetUp() override {
    record::Specification specification = specification_of();
    run_ = store().add_run(specification).run.number;
    lease_ = *store().begin_attempt(run_, world::job_identity("n1"));
  }

  void report(std::int64_t beats, double time) {
    runner::write_report(store().run_folder(lease_.run_id), 1,
                         {.token = lease_.token, .host = "n1", .pid = 5, .beats = beats, .time = time});
  }

  /// Changes the time of the last check to `seconds` seconds ago.
  void shift_last_look(double seconds, const std::string& by = world::this_process().host) {
    nlohmann::json seen = store().read_note(lease_, "job");
    seen["time"] = seen.at("time").get<double>() - seconds;
    seen["by"] = by;
    store().replace_note(lease_, "job", seen);
  }

  store::RunState state() { return store().read_run(run_).state; }
  std::vector<store::EventRow> differences() { return store().read_events(run_, "clock_difference"); }

  std::int64_t run_ = 0;
  store::Lease lease_;
};

TEST_F(LaunchedRunsTest, NoClockEndsTheLeaseOfAJob) {
  store().set_clock({.now = [] { return world::now_seconds() + 1e6; }, .uptime = [] { return 1e9; }});
  EXPECT_TRUE(store().settle().empty());
  EXPECT_EQ(state(), store::RunState::running);
  EXPECT_FALSE(store().begin_attempt(run_)) << "the job holds it";
}

TEST_F(LaunchedRunsTest, AJobWithoutReportsBetweenTwoChecksOfOneMachineIsLost) {
  report(3, world::now_seconds());
  EXPECT_TRUE(runner::settle_launched(store()).empty());
  shift_last_look(89.0);
  EXPECT_TRUE(runner::settle_launched(store()).empty());
  shift_last_look(10.0);
  ASSERT_EQ(runner::settle_launched(store()).size(), 1u);
  EXPECT_EQ(state(), store::RunState::lost);
  EXPECT_NE(store().read_run(run_).reason.find("no sign of life from n1 for more than 90 s"),
            std::string::npos);
  EXPECT_TRUE(store().begin_attempt(run_)) << "another one takes it over";
}

TEST_F(LaunchedRunsTest, ANewReportIsASignOfLifeHoweverLateTheCheck) {
  report(3, world::now_seconds());
  runner::settle_launched(store());
  shift_last_look(86400.0);
  report(4, world::now_seconds());
  EXPECT_TRUE(runner::settle_launched(store()).empty());
  EXPECT_EQ(state(), store::RunState::running);
  EXPECT_TRUE(differences().empty());
}

TEST_F(LaunchedRunsTest, TheCheckOfAnotherMachineStartsAWaitOfItsOwn) {
  report(3, world::now_seconds());
  runner::settle_launched(store());
  shift_last_look(3600.0, "another-login-node");
  EXPECT_TRUE(runner::settle_launched(store()).empty());
  EXPECT_EQ(state(), store::RunState::running);
}

TEST_F(LaunchedRunsTest, MachinesThatCheckInTurnFindASilentWorker) {
  report(3, world::now_seconds());
  runner::settle_launched(store());
  shift_last_look(50.0, "another-login-node");
  EXPECT_TRUE(runner::settle_launched(store()).empty()) << "this machine begins to wait";
  nlohmann::json seen = store().read_note(lease_, "job");
  EXPECT_EQ(seen.at("by"), "another-login-node") << "which still waits";
  double& since = seen.at("others").at(world::this_process().host).get_ref<double&>();
  since -= 91.0;
  store().replace_note(lease_, "job", seen);
  EXPECT_EQ(runner::settle_launched(store()).size(), 1u);
  EXPECT_EQ(state(), store::RunState::lost);
  EXPECT_TRUE(differences().empty()) << "an old report does not show the worker's clock";
}

TEST_F(LaunchedRunsTest, AJobThatNeverBeginsIsInterruptedWithTheReason) {
  runner::settle_launched(store());
  shift_last_look(100.0);
  EXPECT_EQ(runner::settle_launched(store()).size(), 1u);
  EXPECT_EQ(state(), store::RunState::interrupted);
  EXPECT_NE(store().read_run(run_).reason.find("nothing was written to the run's folder"), std::string::npos);
}

TEST_F(LaunchedRunsTest, ClocksAnHourApartAreReportedOnceAndKillNoRun) {
  for (const double hour : {3600.0, -3600.0}) {
    report(hour > 0 ? 1 : 10, world::now_seconds());
    runner::settle_launched(store());
    for (int beat = 2; beat < 5; ++beat) {
      shift_last_look(100.0);
      report(hour > 0 ? beat : beat + 10, world::now_seconds() + (hour > 0 ? 3600.0 : -3600.0));
      EXPECT_TRUE(runner::settle_launched(store()).empty());
    }
  }
  EXPECT_EQ(state(), store::RunState::running);
  ASSERT_EQ(differences().size(), 2u) << "each once";
  const auto text = [&](std::size_t index) {
    return differences()[index].body.at("text").get<std::string>();
  };
  EXPECT_TRUE(text(0).starts_with("the clock of n1 is about 60 minutes ahead of") ||
              text(1).starts_with("the clock of n1 is about 60 minutes ahead of"))
      << text(0) << text(1);
  EXPECT_NE((text(0) + text(1)).find(" minutes behind "), std::string::npos) << text(0) << text(1);
}

TEST_F(LaunchedRunsTest, TheReportOfAnotherTokenIsNotThisAttempts) {
  runner::write_report(
      store().run_folder(lease_.run_id), 1,
      {.token = "other", .host = "n1", .pid = 5, .beats = 1, .end = runner::ProcessEnd{0, 9}});
  EXPECT_TRUE(runner::settle_launched(store()).empty());
  EXPECT_EQ(state(), store::RunState::running);
}

TEST_F(LaunchedRunsTest, TheEndThatWasReportedIsWritten) {
  runner::JobReport last{
      .token = lease_.token, .host = "n1", .pid = 5, .beats = 7, .end = runner::ProcessEnd{0, 9}};
  runner::write_report(store().run_folder(lease_.run_id), 1, last);
  EXPECT_EQ(runner::settle_launched(store()).size(), 1u);
  EXPECT_EQ(state(), store::RunState::lost);
  EXPECT_EQ(store().read_run(run_).reason, "the worker ended with signal 9 (Killed) without a final report");
}

TEST_F(LaunchedRunsTest, AWorkerThatItsKeeperKilledForInactivityHasFailed) {
  runner::write_report(store().run_folder(lease_.run_id), 1,
                       {.token = lease_.token,
                        .host = "n1",
                        .pid = 5,
                        .beats = 7,
                        .end = runner::ProcessEnd{0, 9},
                        .silent = std::chrono::seconds(40)});
  EXPECT_EQ(runner::settle_launched(store()).size(), 1u);
  EXPECT_EQ(state(), store::RunState::failed);
  EXPECT_EQ(store().read_run(run_).reason, "no sign of its worker for 40 s (--step-timeout); it was killed");
}

}  // namespace
}  // namespace encore::testing
