// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp stop` of an `exp run` that has not started anything yet (runner/session_file.hpp): exp stop sees
// it from its first moment on. The worker's check is held (fifo.hpp), so that the state in between stays. A
// session must be found before it has read its plan; the printed words may change.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "system/control/fifo.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

class Session : public ::testing::Test {
 protected:
  /// Starts an exp run that waits for the answer of its worker's check, before it has made the database.
  pid_t start_and_hold(const std::string& text_in_session) {
    sandbox_.set("FAKE_HOLD_CHECK", fifo_.path());
    const pid_t exp = sandbox_.start({"run", "tiny.toml"});
    for (int glances = 0; glances < 4000 && !contains(sessions(), text_in_session); ++glances)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(contains(sessions(), text_in_session)) << sandbox_.read("output.txt");
    return exp;
  }
  std::string sessions() const {
    std::string text;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, none))
      text += sandbox_.read("encore.db.runs/sessions/" + entry.path().filename().string());
    return text;
  }
  void expect_nothing_started(pid_t exp) {
    fifo_.open();
    const auto end = Sandbox::wait(exp);
    ASSERT_TRUE(end);
    const std::string said = sandbox_.read("output.txt");
    EXPECT_EQ(end->exit_code, 75) << said;
    EXPECT_TRUE(contains(said, "asked to stop by exp stop: no more runs are started")) << said;
    EXPECT_TRUE(contains(said, "1 more run was not started")) << said;
    EXPECT_EQ(sandbox_.one("SELECT count(*) FROM attempt"), "0");
    EXPECT_FALSE(std::filesystem::exists(folder_)) << "its file goes with it";
  }
  std::string asked(pid_t exp) const { return "exp run tiny.toml (process " + std::to_string(exp) + " on "; }

  Sandbox sandbox_;
  const std::filesystem::path folder_ = sandbox_.folder() / "encore.db.runs/sessions";
  Fifo fifo_{sandbox_.folder() / "hold"};
};

TEST_F(Session, StopAllReachesARunThatIsOnlyPlanned) {
  const pid_t exp = start_and_hold("\"command\"");
  const runner::ProgramOutput stop = sandbox_.exp({"stop", "--all"});
  EXPECT_EQ(stop.end.exit_code, 0) << stop.errors;
  EXPECT_TRUE(contains(stop.output, asked(exp))) << stop.output;
  EXPECT_TRUE(contains(stop.output, "was asked to stop; it starts no more runs")) << stop.output;
  EXPECT_FALSE(contains(stop.output, "nothing is running")) << stop.output;
  expect_nothing_started(exp);
}

TEST_F(Session, StopByTheNameOfASweepThatIsNotStoredYet) {
  const pid_t exp = start_and_hold("\"sweep\":\"tiny\"");
  const runner::ProgramOutput stop = sandbox_.exp({"stop", "tiny"});
  EXPECT_EQ(stop.end.exit_code, 0) << stop.errors;
  EXPECT_TRUE(contains(stop.output, asked(exp))) << stop.output;
  expect_nothing_started(exp);
}

TEST_F(Session, AnotherSweepsNameDoesNotStopIt) {
  const pid_t exp = start_and_hold("\"sweep\":\"tiny\"");
  const runner::ProgramOutput stop = sandbox_.exp({"stop", "other"});
  EXPECT_EQ(stop.end.exit_code, 2) << "there is no database yet: " << stop.output;
  fifo_.open();
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 0) << sandbox_.read("output.txt");
}

TEST_F(Session, OneThatWasKilledIsNotAskedAndItsFileGoesWithTheNext) {
  const pid_t exp = start_and_hold("\"command\"");
  ::kill(exp, SIGKILL);
  ASSERT_TRUE(Sandbox::wait(exp));
  fifo_.stay_open();
  const runner::ProgramOutput none = sandbox_.exp({"stop", "--all"});
  EXPECT_EQ(none.end.exit_code, 2);
  EXPECT_TRUE(contains(none.errors, "there is no database encore.db yet")) << none.errors;
  sandbox_.write("encore.db.runs/sessions/1-2.json.part", "killed before this had its na");
  sandbox_.set("FAKE_HOLD_CHECK", "");
  EXPECT_EQ(sandbox_.exp({"run", "tiny.toml", "-q"}).end.exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_));
  EXPECT_TRUE(contains(sandbox_.exp({"stop", "--all"}).output, "nothing is running"));
}

TEST_F(Session, ARefusedPlanLeavesNothing) {
  sandbox_.write("tiny.toml", "name = \"tiny\"\nsede = 1\n");
  EXPECT_EQ(sandbox_.exp({"run", "tiny.toml"}).end.exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "encore.db.runs"));
}

TEST_F(Session, AnOldRequestStopsNoLaterRun) {
  const pid_t exp = start_and_hold("\"command\"");
  ASSERT_EQ(sandbox_.exp({"stop", "--all"}).end.exit_code, 0);
  expect_nothing_started(exp);
  sandbox_.set("FAKE_HOLD_CHECK", "");
  EXPECT_EQ(sandbox_.exp({"run", "tiny.toml", "-q"}).end.exit_code, 0);
  EXPECT_EQ(sandbox_.one("SELECT state FROM run"), "completed");
}

}  // namespace
}  // namespace encore::system_test
