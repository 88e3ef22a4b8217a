// SPDX-License-Identifier: BSD-3-Clause
// Tests the attempts of runs in the store (store/attempts.cpp): a run must have at most one holder (the
// process with its lease) at a time, its status does not depend on how clocks are set, and records of dead
// attempts are kept.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/safetensors.hpp"
#include "unit/store/store_fixture.hpp"

namespace encore::store {
namespace {

using testing::dead_process;
using testing::message_of;
using testing::read_bytes;
using testing::StoreTest;

TEST_F(StoreTest, AnAttemptLivesFromLeaseToEnding) {
  const std::int64_t run = add();
  const Lease lease = store().begin_attempt(run, world::this_process(), {}, {"abcdef", "diff"}).value();
  EXPECT_EQ(lease.ordinal, 1);
  EXPECT_EQ(read_bytes(store().run_folder(lease.run_id) / "lease"), lease.token + "\n");
  EXPECT_EQ(store().read_run(run).state, RunState::running);
  EXPECT_FALSE(store().begin_attempt(run)) << "it is held";
  {
    record::SpoolWriter spool(spool_of(lease), 1);
    spool.point("train/loss", 1, 2.0);
    spool.event(record::Ended{.ending = record::Ending::completed});
  }
  EXPECT_EQ(store().merge(lease).records, 3u);
  store().finish_attempt(lease, RunState::completed);
  const RunRow row = store().read_run(run);
  EXPECT_EQ(row.state, RunState::completed);
  EXPECT_TRUE(row.finished);
  EXPECT_FALSE(store().begin_attempt(run)) << "there is nothing left to do";
  EXPECT_EQ(store().read_attempts(run).at(0).commit_hash, "abcdef");
  EXPECT_EQ(store().read_attempts(run).at(0).first_step, 1);
}

TEST_F(StoreTest, ARunThatIsNotCompletedCanBeStartedAgain) {
  const std::int64_t run = add();
  int ordinal = 0;
  for (RunState state : {RunState::interrupted, RunState::failed, RunState::stopped, RunState::lost}) {
    const Lease lease = store().begin_attempt(run).value();
    EXPECT_EQ(lease.ordinal, ++ordinal);
    store().finish_attempt(lease, state, "because");
    EXPECT_EQ(store().read_run(run).state, state);
    EXPECT_EQ(store().read_run(run).reason, "because");
  }
  EXPECT_THROW(store().finish_attempt(Lease{}, RunState::running), std::logic_error);
}

TEST_F(StoreTest, CompletedNeedsAWholeSpool) {
  const std::int64_t run = add();
  const Lease lease = store().begin_attempt(run).value();
  {
    record::SpoolWriter spool(spool_of(lease), 1);
    spool.event(record::Ended{.ending = record::Ending::completed});
  }
  const std::string whole = read_bytes(spool_of(lease));
  testing::write_bytes(spool_of(lease), whole.substr(0, whole.size() - 1));
  EXPECT_NE(message_of<Error>([&] {
              store().finish_attempt(lease, RunState::completed);
            }).find("cannot be completed"),
            std::string::npos);
  EXPECT_EQ(store().read_run(run).state, RunState::running);
  store().finish_attempt(lease, RunState::interrupted, "spool cut");
  EXPECT_EQ(store().read_attempts(run).at(0).spool_problem.find("attempt-0001.spool: byte "), 0u);
}

TEST_F(StoreTest, AKilledHolderIsLostAndCanBeSucceeded) {
  const std::int64_t run = add();
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  store_.reset();
  const pid_t child = ::fork();
  if (child == 0) {
    Store mine(path(), OpenMode::write);
    const auto lease = mine.begin_attempt(run);
    record::SpoolWriter spool(mine.run_folder(lease->run_id) / record::spool_name(1), 1);
    spool.point("train/loss", 1, 3.0);
    spool.sync();
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(store().read_run(run).state, RunState::running);
  EXPECT_FALSE(store().begin_attempt(run));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const RunRow lost = store().read_run(run);
  EXPECT_EQ(lost.state, RunState::lost) << "at once, without waiting for the lease to expire";
  EXPECT_EQ(lost.reason, "its process " + std::to_string(child) + " is gone");
  const auto lease = store().begin_attempt(run);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->ordinal, 2);
  EXPECT_EQ(store().read_attempts(run).at(0).state, RunState::lost);
  EXPECT_EQ(store().read_curve(run, "train/loss").size(), 1u)
      << "the records of the dead attempt were merged";
}

TEST_F(StoreTest, AReusedProcessIdAndAnotherBootAreNoticed) {
  const std::int64_t reused = add('a'), rebooted = add('b'), elsewhere = add('c');
  ASSERT_TRUE(store().begin_attempt(reused, dead_process()));
  EXPECT_EQ(store().read_run(reused).state, RunState::lost);
  world::ProcessIdentity other_boot = world::this_process();
  other_boot.boot_id = "another";
  ASSERT_TRUE(store().begin_attempt(rebooted, other_boot));
  EXPECT_EQ(store().read_run(rebooted).state, RunState::lost);
  world::ProcessIdentity other_host = dead_process();
  other_host.host += "-not";
  other_host.boot_id = "of another machine";
  ASSERT_TRUE(store().begin_attempt(elsewhere, other_host));
  EXPECT_EQ(store().read_run(elsewhere).state, RunState::running) << "only its heartbeat decides";
  store().database().execute("UPDATE attempt SET expires = unixepoch() - 1");
  EXPECT_EQ(store().read_run(elsewhere).state, RunState::lost);
  EXPECT_EQ(store().database().integer("SELECT count(*) FROM run_status WHERE status = 'lost'"), 3);
}

/// A store whose clocks the test controls.
class ClockTest : public StoreTest {
 protected:
  ClockTest() {
    store().set_clock({[this] { return day_; }, [this] { return uptime_; }});
  }
  void pass(double seconds) {
    day_ += seconds;
    uptime_ += seconds;
  }

  double day_ = 1.7e9, uptime_ = 1000.0;
};

TEST_F(ClockTest, AClockThatIsSetNeitherEndsALiveRunNorKeepsADeadOne) {
  const std::int64_t run = add();
  const Lease lease = store().begin_attempt(run).value();
  for (const double jump : {3600.0, -7200.0, 1e8}) {
    day_ += jump;
    EXPECT_EQ(store().read_run(run).state, RunState::running) << jump;
    EXPECT_EQ(store().read_attempts(run).at(0).state, RunState::running) << jump;
    EXPECT_FALSE(store().begin_attempt(run)) << jump;
    EXPECT_TRUE(store().settle().empty()) << jump;
    store().merge(lease);
  }
  pass(59);
  EXPECT_EQ(store().read_run(run).state, RunState::running);
  pass(2);
  day_ -= 3600;
  EXPECT_EQ(store().read_run(run).state, RunState::lost)
      << "it was silent for 61 s, whatever the clock shows";
  EXPECT_EQ(store().read_run(run).reason,
            "no sign of life from " + world::this_process().host + " for too long");
  EXPECT_TRUE(store().begin_attempt(run));
  EXPECT_THROW(store().merge(lease), LeaseLost);
}

TEST_F(ClockTest, AfterAnotherBootOnlyTheTimeOfDayCounts) {
  const std::int64_t run = add();
  world::ProcessIdentity elsewhere = dead_process();
  elsewhere.host += "-not";
  elsewhere.boot_id = "of another machine";
  store().begin_attempt(run, elsewhere);
  uptime_ += 1e6;
  EXPECT_EQ(store().read_run(run).state, RunState::running) << "our boot id does not apply to them";
  day_ += 59;
  EXPECT_EQ(store().read_run(run).state, RunState::running);
  day_ += 2;
  EXPECT_EQ(store().read_run(run).state, RunState::lost);
}

TEST_F(ClockTest, AContainerWithAnotherNameOnTheSameBootNeedsNoClockOfDay) {
  const std::int64_t run = add();
  world::ProcessIdentity container = world::this_process();
  container.host += "-not";
  store().begin_attempt(run, container);
  day_ += 1e6;
  EXPECT_EQ(store().read_run(run).state, RunState::running);
  pass(61);
  EXPECT_EQ(store().read_run(run).state, RunState::lost);
}

TEST_F(ClockTest, AnExpiredLeaseIsLostAndItsHolderFindsOut) {
  const std::int64_t run = add();
  const Lease old = store().begin_attempt(run).value();
  record::SpoolWriter spool(spool_of(old), 1);
  spool.point("train/loss", 1, 3.0);
  spool.flush();
  pass(61);
  EXPECT_EQ(store().read_run(run).state, RunState::lost);
  store().merge(old);
  EXPECT_EQ(store().read_run(run).state, RunState::running)
      << "a heartbeat before another process took it over";
  pass(61);
  const Lease now = store().begin_attempt(run).value();
  EXPECT_NE(now.token, old.token);
  EXPECT_EQ(read_bytes(store().run_folder(now.run_id) / "lease"), now.token + "\n");
  spool.point("train/loss", 2, 4.0);
  spool.flush();
  EXPECT_NE(message_of<LeaseLost>([&] { store().merge(old); }).find("was taken over by another process"),
            std::string::npos);
  EXPECT_THROW(store().finish_attempt(old, RunState::completed), LeaseLost);
  EXPECT_EQ(store().read_run(run).state, RunState::running);
  EXPECT_EQ(store().read_curve(run, "train/loss").size(), 1u);
}

TEST_F(StoreTest, EventsOfTheControlProgramAreListedWithThoseOfTheSpool) {
  const std::int64_t run = add();
  const Lease lease = store().begin_attempt(run).value();
  store().add_event(lease, "plugin_change", {{"plugins", 1}});
  {
    record::SpoolWriter spool(spool_of(lease), 1);
    spool.event(record::Logged{.text = "hello"});
  }
  store().merge(lease);
  store().add_event(lease, "plugin_change", {{"plugins", 2}});
  const std::vector<EventRow> events = store().read_events(run);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].sequence, -1);
  EXPECT_EQ(events[0].body.at("plugins"), 2);
  EXPECT_EQ(events[1].sequence, 0);
  EXPECT_EQ(events[2].type, "log");
  store().finish_attempt(lease, RunState::interrupted);
  EXPECT_THROW(store().add_event(lease, "plugin_change", {}), LeaseLost);
}

TEST_F(StoreTest, SettlingWritesTheEndThatADeadAttemptReported) {
  const std::int64_t done = add('a'), failed = add('b'), silent = add('c'), alive = add('d');
  const auto leave = [&](std::int64_t run, std::optional<record::Ending> ending) {
    const Lease lease = store().begin_attempt(run, dead_process()).value();
    record::SpoolWriter spool(spool_of(lease), 1);
    spool.point("train/loss", 1, 3.0);
    if (ending) spool.event(record::Ended{.ending = *ending, .reason = "said so"});
  };
  leave(done, record::Ending::completed);
  leave(failed, record::Ending::failed);
  leave(silent, std::nullopt);
  store().begin_attempt(alive);
  EXPECT_EQ(store().settle().size(), 3u);
  EXPECT_EQ(store().read_run(done).state, RunState::completed);
  EXPECT_EQ(store().read_run(failed).state, RunState::failed);
  EXPECT_EQ(store().read_run(failed).reason, "said so");
  EXPECT_EQ(store().read_run(silent).state, RunState::lost);
  EXPECT_EQ(store().read_run(alive).state, RunState::running);
  EXPECT_EQ(store().read_curve(silent, "train/loss").size(), 1u);
  EXPECT_TRUE(store().settle().empty());
  EXPECT_FALSE(store().begin_attempt(done));
  EXPECT_TRUE(store().begin_attempt(silent));
}

TEST_F(StoreTest, TheLastRecordOfAnOldAttemptIsNotLost) {
  const std::int64_t run = add();
  const Lease old = store().begin_attempt(run, dead_process()).value();
  record::SpoolWriter spool(spool_of(old), 1);
  spool.point("train/loss", 1, 3.0);
  spool.flush();
  store().settle();
  spool.point("train/loss", 2, 4.0);
  spool.flush();
  ASSERT_TRUE(store().begin_attempt(run));
  EXPECT_EQ(store().read_curve(run, "train/loss").size(), 2u);
}

}  // namespace
}  // namespace encore::store
