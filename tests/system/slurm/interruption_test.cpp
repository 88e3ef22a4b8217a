// SPDX-License-Identifier: BSD-3-Clause
// Tests events that end a job of Slurm early (runner/slurm/slurm_runner.hpp): requests to stop, scancel,
// requeueing, the time limit, a node that dies. The run resumes or reports why it does not, and its numbers
// must be those of an unbroken one. Slurm's daemons run only if ENCORE_TEST_SLURM is set (cluster.hpp).
#include <signal.h>

#include "system/control/hold.hpp"
#include "system/slurm/cluster.hpp"

namespace encore::system_test {
namespace {

/// "1 interrupted, 2 completed": the attempts of the only run, in their order.
constexpr const char* attempts_query =
    "SELECT group_concat(text, ', ') FROM (SELECT ordinal || ' ' || state AS text FROM attempt ORDER BY "
    "ordinal)";

TEST(SlurmInterruption, StopCancelsQueuedJobs) {
  NEEDS_SLURM_FOR_A_SHORT_TEST;
  Cluster cluster;
  write_sweep(cluster.sandbox(), 3);
  cluster.slurm("scontrol update PartitionName=work State=DOWN");
  ASSERT_EQ(cluster.run("sweep.toml", {"--detach"}).end.exit_code, 0);
  const runner::ProgramOutput stop = cluster.sandbox().exp({"stop", "s-s1"});
  EXPECT_TRUE(contains(stop.output, "s-s1 is stopped; its job had not started it"))
      << stop.output << stop.errors;
  EXPECT_EQ(cluster.sandbox().one(states_query), "2 running, 1 stopped");
  EXPECT_TRUE(eventually([&] {
    return cluster.slurm("squeue -h -r -o '%K %T' | sort") == "1 PENDING\n2 PENDING\n";
  })) << cluster.slurm("squeue -h -r -t all -o '%K %T' | sort");
  cluster.slurm("scontrol update PartitionName=work State=UP");
  const runner::ProgramOutput again = cluster.run("sweep.toml");
  EXPECT_TRUE(cluster.comes_to("3 completed")) << again.output << again.errors;
  cluster.expect_like_local("sweep.toml");
}

TEST(SlurmInterruption, StopReachesAWorkerAndTheRestOfItsJob) {
  NEEDS_SLURM_FOR_A_SHORT_TEST;
  Cluster cluster({}, "runs_per_job = 3\n");
  write_sweep(cluster.sandbox(), 3);
  const Hold hold(cluster.sandbox(), 8);
  ASSERT_EQ(cluster.run("sweep.toml", {"--detach"}).end.exit_code, 0);
  hold.wait_for(1);
  cluster.sandbox().exp({"status"});
  EXPECT_EQ(cluster.sandbox().exp({"stop", "s"}).end.exit_code, 0);
  EXPECT_TRUE(cluster.comes_to("3 stopped")) << cluster.sandbox().one(states_query);
  EXPECT_EQ(cluster.sandbox().one("SELECT count(DISTINCT run) FROM checkpoint"), "1");
  EXPECT_TRUE(eventually([&] {
    return contains(cluster.slurm("squeue -h -t all -o %T"), "FAILED") ||
           contains(cluster.slurm("squeue -h -t all -o %T"), "CANCELLED");
  }));
}

TEST(SlurmInterruption, RequeueStartsAnotherAttemptOfUnfinishedRuns) {
  NEEDS_SLURM_FOR_A_SHORT_TEST;
  Cluster cluster({}, "runs_per_job = 2\n");
  write_sweep(cluster.sandbox(), 2);
  Hold hold(cluster.sandbox(), 8, "s-s2");  // only the second run is held
  ASSERT_EQ(cluster.run("sweep.toml", {"--detach"}).end.exit_code, 0);
  hold.wait_for(1);
  ASSERT_TRUE(cluster.comes_to("1 completed, 1 running"));
  cluster.slurm("scontrol requeue 1");
  EXPECT_TRUE(eventually([&] {
    cluster.sandbox().exp({"status"});
    return cluster.sandbox().one("SELECT count(*) FROM attempt WHERE run = 2") == "2";
  }));
  hold.release();
  EXPECT_TRUE(cluster.comes_to("2 completed")) << cluster.sandbox().one(states_query);
  EXPECT_EQ(cluster.sandbox().one("SELECT count(*) FROM attempt WHERE run = 1"), "1") << "it had ended";
  EXPECT_EQ(cluster.sandbox().one("SELECT count(*) FROM attempt WHERE run = 2"), "2") << "no third one began";
  EXPECT_EQ(cluster.sandbox().one("SELECT count(DISTINCT host_name) FROM attempt"), "1") << "one job";
  cluster.expect_like_local("sweep.toml");
}

TEST(SlurmInterruption, AStepTimeoutFailsARunAndItsJobWorksOnTheNext) {
  NEEDS_SLURM_FOR_A_SHORT_TEST;
  Cluster cluster({}, "runs_per_job = 2\n");
  write_sweep(cluster.sandbox(), 2);
  const Hold hold(cluster.sandbox(), 8, "s-s1");
  ASSERT_EQ(cluster.run("sweep.toml", {"--detach", "--step-timeout", "5"}).end.exit_code, 0);
  EXPECT_TRUE(cluster.comes_to("1 completed, 1 failed")) << cluster.sandbox().one(states_query);
  EXPECT_EQ(cluster.sandbox().one("SELECT name || ': ' || reason FROM run WHERE state = 'failed'"),
            "s-s1: no sign of its worker for 5 s (--step-timeout); it was killed");
}

TEST(SlurmInterruption, ScancelIsTheReason) {
  NEEDS_SLURM_FOR_A_SHORT_TEST;
  Cluster cluster;
  Hold hold(cluster.sandbox(), 8);
  const pid_t exp = cluster.start("tiny.toml");
  hold.wait_for(1);
  cluster.slurm("scancel --name=$(squeue -h -o %j)");
  EXPECT_EQ(Sandbox::wait(exp)->exit_code, 75) << cluster.sandbox().read("output.txt");
  EXPECT_TRUE(contains(cluster.sandbox().read("output.txt"), "was cancelled in Slurm (scancel)"))
      << cluster.sandbox().read("output.txt");
  EXPECT_TRUE(contains(cluster.sandbox().one("SELECT reason FROM run"), "was cancelled in Slurm (scancel)"));
  hold.release();
  EXPECT_EQ(cluster.run("tiny.toml").end.exit_code, 0);
  cluster.expect_like_local("tiny.toml");
}

TEST(SlurmInterruption, CtrlCStopsWhatWorksAndCancelsWhatWaits) {
  NEEDS_SLURM_FOR_A_SHORT_TEST;
  Cluster cluster({"MaxJobCount=100"}, "cpus = 4\n");
  write_sweep(cluster.sandbox(), 4);  // two nodes with four CPUs: two jobs wait
  Hold hold(cluster.sandbox(), 8);
  const pid_t exp = cluster.start("sweep.toml");
  hold.wait_for(2);
  ::kill(exp, SIGINT);
  EXPECT_EQ(Sandbox::wait(exp)->exit_code, 75) << cluster.sandbox().read("output.txt");
  EXPECT_EQ(cluster.sandbox().one(states_query), "4 stopped");
  EXPECT_EQ(cluster.slurm("squeue -h"), "");
  hold.release();
  EXPECT_EQ(cluster.run("sweep.toml").end.exit_code, 0);
  cluster.expect_like_local("sweep.toml");
}

TEST(SlurmInterruption, BeforeTheTimeLimitACheckpointIsWrittenAndTheJobResumes) {
  NEEDS_SLURM_FOR_A_LONG_TEST;
  Cluster cluster({}, "time = \"2\"\ncheckpoint_seconds = 110\n");
  Hold hold(cluster.sandbox(), 8);
  ASSERT_EQ(cluster.run("tiny.toml", {"--detach"}).end.exit_code, 0);
  hold.wait_for(1);
  ASSERT_TRUE(eventually([&] {
    cluster.sandbox().exp({"status"});
    return cluster.sandbox().one("SELECT count(*) FROM checkpoint WHERE step = 7") == "1";
  })) << cluster.sandbox().one(attempts_query);
  EXPECT_EQ(cluster.sandbox().one(states_query), "1 running") << "its job waits to resume";
  hold.release();
  EXPECT_TRUE(cluster.comes_to("1 completed"));
  EXPECT_EQ(cluster.sandbox().one(attempts_query), "1 interrupted, 2 completed");
  EXPECT_TRUE(contains(cluster.sandbox().one("SELECT reason FROM attempt WHERE ordinal = 1"),
                       "its job came near its time limit"))
      << cluster.sandbox().one("SELECT reason FROM attempt WHERE ordinal = 1");
  cluster.expect_like_local("tiny.toml");
}

TEST(SlurmInterruption, AWorkerThatIgnoresRequestsReachesTheTimeLimit) {
  NEEDS_SLURM_FOR_A_LONG_TEST;
  Cluster cluster({"KillWait=2"}, "time = \"1\"\ncheckpoint_seconds = 1\nrequeue = false\n");
  cluster.sandbox().set("FAKE_STUBBORN", "1");
  Hold hold(cluster.sandbox(), 8);
  const runner::ProgramOutput output = cluster.run("tiny.toml");
  EXPECT_EQ(output.end.exit_code, 75) << output.output;
  EXPECT_TRUE(contains(cluster.sandbox().one("SELECT reason FROM run"), "(TIMEOUT)"))
      << cluster.sandbox().one("SELECT reason FROM run");
}

/// Expects that the worker `left` ends and another one waits at the hold. The scripted worker does not notice
/// that another process has taken over its run, so its keeper (`exp job`, the parent of the worker) must kill
/// it.
void expect_another_holds(const Hold& hold, pid_t left) {
  EXPECT_TRUE(eventually([&] { return has_ended(left) && hold.wait_for(1).front() != left; }));
}

TEST(SlurmInterruption, ANodeThatDiesIsLeftAndItsRunResumesElsewhere) {
  NEEDS_SLURM_FOR_A_LONG_TEST;
  Cluster cluster({"SlurmdTimeout=5", "UnkillableStepTimeout=5"});
  Hold hold(cluster.sandbox(), 8);
  ASSERT_EQ(cluster.run("tiny.toml", {"--detach"}).end.exit_code, 0);
  const pid_t left = hold.wait_for(1).front();
  std::string node = cluster.slurm("squeue -h -o %N");
  node.pop_back();
  // Only the daemon dies: its job continues, and must not damage the work of another one.
  cluster.slurm("kill -9 $(cat '" + (cluster.daemons() / (node + ".pid")).string() + "')");
  ASSERT_TRUE(eventually([&] {
    cluster.sandbox().exp({"status"});
    return cluster.sandbox().one("SELECT count(*) FROM attempt") == "2";
  })) << cluster.slurm("squeue -t all; sinfo");
  expect_another_holds(hold, left);
  hold.release();
  EXPECT_TRUE(cluster.comes_to("1 completed")) << cluster.sandbox().one(attempts_query);
  EXPECT_EQ(cluster.sandbox().one(attempts_query), "1 lost, 2 completed");
  EXPECT_TRUE(
      contains(cluster.sandbox().one("SELECT reason FROM attempt WHERE ordinal = 1"), "started again"));
  cluster.expect_like_local("tiny.toml");
}

TEST(SlurmInterruption, WithoutRequeueADeadNodeIsTheReasonAndTheRunIsTakenOver) {
  NEEDS_SLURM_FOR_A_LONG_TEST;
  Cluster cluster({"SlurmdTimeout=5", "UnkillableStepTimeout=5"}, "requeue = false\n");
  Hold hold(cluster.sandbox(), 8);
  const pid_t exp = cluster.start("tiny.toml", {"--retries", "1"});
  const pid_t left = hold.wait_for(1).front();
  std::string node = cluster.slurm("squeue -h -o %N");
  node.pop_back();
  cluster.slurm("kill -9 $(cat '" + (cluster.daemons() / (node + ".pid")).string() + "')");
  ASSERT_TRUE(eventually([&] { return cluster.sandbox().one("SELECT count(*) FROM attempt") == "2"; }));
  expect_another_holds(hold, left);
  hold.release();
  EXPECT_EQ(Sandbox::wait(exp)->exit_code, 0) << cluster.sandbox().read("output.txt");
  EXPECT_EQ(cluster.sandbox().one(attempts_query), "1 lost, 2 completed");
  EXPECT_TRUE(contains(cluster.sandbox().one("SELECT reason FROM attempt WHERE ordinal = 1"), "(NODE_FAIL)"))
      << cluster.sandbox().one("SELECT reason FROM attempt WHERE ordinal = 1");
  cluster.expect_like_local("tiny.toml");
}

}  // namespace
}  // namespace encore::system_test
