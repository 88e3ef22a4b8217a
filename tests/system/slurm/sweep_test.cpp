// SPDX-License-Identifier: BSD-3-Clause
// Tests sweeps through Slurm (runner/slurm/submitter.hpp): arrays, packing, limits of the site, and an exp
// that is killed in between. No run may be submitted twice, and all must have the bits of local runs. Slurm's
// daemons run only if ENCORE_TEST_SLURM is set.
#include <signal.h>

#include <chrono>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include <nlohmann/json.hpp>

#include "system/slurm/cluster.hpp"

namespace encore::system_test {
namespace {

void expect_sweep(int runs, int runs_per_job) {
  Cluster cluster({}, "runs_per_job = " + std::to_string(runs_per_job) + "\n");
  write_sweep(cluster.sandbox(), runs);
  const runner::ProgramOutput output = cluster.run("sweep.toml");
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  EXPECT_EQ(cluster.sandbox().one(states_query), std::to_string(runs) + " completed");
  EXPECT_EQ(cluster.sandbox().one("SELECT count(*) FROM attempt"), std::to_string(runs));
  EXPECT_EQ(cluster.submissions(), 1);
  const int elements = (runs + runs_per_job - 1) / runs_per_job;
  EXPECT_EQ(cluster.slurm("squeue -h -r -t all -o %T | sort | uniq -c | tr -s ' '"),
            " " + std::to_string(elements) + " COMPLETED\n");
  cluster.expect_like_local("sweep.toml");
}

TEST(SlurmSweep, AnArrayHasTheBitsOfALocalRun) {
  NEEDS_SLURM_FOR_A_SHORT_TEST;
  expect_sweep(24, 4);
}

TEST(SlurmSweep, TwoHundredRunsThroughAnArrayHaveTheBitsOfLocalOnes) {
  NEEDS_SLURM_FOR_A_LONG_TEST;
  expect_sweep(200, 5);
}

TEST(SlurmSweep, DetachedRunsAreShownInTheQueueAndEndWithoutAnExp) {
  NEEDS_SLURM_FOR_A_SHORT_TEST;
  Cluster cluster;
  write_sweep(cluster.sandbox(), 3);
  cluster.slurm("scontrol update PartitionName=work State=DOWN");
  const runner::ProgramOutput output = cluster.run("sweep.toml", {"--detach"});
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  EXPECT_TRUE(contains(output.output, "3 runs are submitted to Slurm (1 submission)")) << output.output;
  EXPECT_TRUE(eventually([&] {
    return contains(cluster.sandbox().exp({"status"}).output,
                    "queued in Slurm, job 1_0, reason PartitionDown");
  })) << cluster.sandbox().exp({"status"}).output;
  EXPECT_TRUE(contains(cluster.sandbox().exp({"ls"}).output, "queued"));
  EXPECT_TRUE(contains(cluster.sandbox().exp({"show", "s-s2"}).output, "queued in Slurm, job 1_1"))
      << cluster.sandbox().exp({"ls"}).output;
  const nlohmann::json status = nlohmann::json::parse(cluster.sandbox().exp({"status", "--json"}).output);
  EXPECT_EQ(status.at(0).at("scheduler").at("state"), "PENDING") << status;
  const runner::ProgramOutput again = cluster.run("sweep.toml", {"--detach"});
  EXPECT_TRUE(contains(again.output, "is running in Slurm job")) << again.output;
  EXPECT_EQ(cluster.submissions(), 1) << "nothing is submitted twice";
  cluster.slurm("scontrol update PartitionName=work State=UP");
  EXPECT_TRUE(cluster.comes_to("3 completed")) << cluster.sandbox().one(states_query);
  const runner::ProgramOutput logs = cluster.sandbox().exp({"logs", "s-s2", "-f"});
  EXPECT_TRUE(contains(logs.output, "completed at step 20")) << logs.output;
  cluster.expect_like_local("sweep.toml");
}

TEST(SlurmSweep, MaxArraySizeIsObeyed) {
  NEEDS_SLURM_FOR_A_SHORT_TEST;
  Cluster cluster({"MaxArraySize=10"});
  write_sweep(cluster.sandbox(), 24);
  const runner::ProgramOutput output = cluster.run("sweep.toml");
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  EXPECT_EQ(cluster.sandbox().one(states_query), "24 completed");
  EXPECT_EQ(cluster.submissions(), 3);
  cluster.expect_like_local("sweep.toml");
}

TEST(SlurmSweep, AFullQueueIsWaitedFor) {
  NEEDS_SLURM_FOR_A_LONG_TEST;
  Cluster cluster({"MaxJobCount=6", "MinJobAge=2"});
  write_sweep(cluster.sandbox(), 12);
  const runner::ProgramOutput output = cluster.run("sweep.toml");
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  EXPECT_EQ(cluster.sandbox().one(states_query), "12 completed");
  EXPECT_GE(cluster.submissions(), 3);
  cluster.expect_like_local("sweep.toml");
}

TEST(SlurmSweep, AtMostTenSubmissionsAMinuteWhereSoSet) {
  NEEDS_SLURM_FOR_A_LONG_TEST;
  Cluster cluster;
  cluster.sandbox().write("site.toml",
                          "[slurm]\nqueue_seconds = 1\nmax_array_size = 1\nmax_submits_per_minute = 10\n");
  write_sweep(cluster.sandbox(), 14);
  const pid_t exp = cluster.start("sweep.toml");
  // A folder is there for at least a minute.
  std::map<std::string, std::vector<double>> tries_of;
  EXPECT_TRUE(cluster.sandbox().wait_until([&] {
    std::error_code gone;
    for (const auto& entry :
         std::filesystem::directory_iterator(cluster.sandbox().folder() / "encore.db.runs" / "jobs", gone)) {
      std::ifstream in(entry.path() / "submission.json");
      const nlohmann::json submission = nlohmann::json::parse(in, nullptr, false);
      if (submission.is_object())
        tries_of[submission.at("name")] = submission.at("tries").get<std::vector<double>>();
    }
    return has_ended(exp);
  }));
  const std::optional<runner::ProcessEnd> end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  const std::string printed = cluster.sandbox().read("output.txt");
  EXPECT_EQ(end->exit_code, 0) << printed;
  EXPECT_TRUE(contains(printed, "at most 10 submissions a minute")) << printed;
  std::vector<double> tries;
  for (const auto& [name, times] : tries_of) tries.insert(tries.end(), times.begin(), times.end());
  std::sort(tries.begin(), tries.end());
  EXPECT_EQ(tries.size(), 14u);
  for (std::size_t index = 10; index < tries.size(); ++index)
    EXPECT_GE(tries[index] - tries[index - 10], 60.0);
  EXPECT_EQ(cluster.sandbox().one(states_query), "14 completed");
}

void expect_nothing_lost(int kills) {
  Cluster cluster({}, "runs_per_job = 2\nmax_array_size = 2\n");
  write_sweep(cluster.sandbox(), 12);
  cluster.sandbox().set("FAKE_STEP_MS", "5");
  std::mt19937 random(5);
  for (int kill = 0; kill < kills; ++kill) {
    const pid_t exp = cluster.start("sweep.toml");
    std::this_thread::sleep_for(
        std::chrono::milliseconds(std::uniform_int_distribution<int>(20, 1200)(random)));
    ::kill(exp, SIGKILL);
    Sandbox::wait(exp);
  }
  EXPECT_TRUE(eventually([&] {
    cluster.run("sweep.toml");
    return cluster.sandbox().one(states_query) == "12 completed";
  })) << cluster.sandbox().one(states_query);
  // No job was submitted twice: each name is known to Slurm once.
  EXPECT_EQ(cluster.slurm("squeue -h -t all -o '%j %F' | sort -u | cut -d ' ' -f 1 | uniq -d"), "");
  cluster.expect_like_local("sweep.toml");
}

TEST(SlurmSweep, AnExpThatIsKilledInBetweenLosesNothing) {
  NEEDS_SLURM_FOR_A_SHORT_TEST;
  expect_nothing_lost(3);
}

TEST(SlurmSweep, AnExpThatIsKilledTwentyTimesLosesNothing) {
  NEEDS_SLURM_FOR_A_LONG_TEST;
  expect_nothing_lost(20);
}

}  // namespace
}  // namespace encore::system_test
