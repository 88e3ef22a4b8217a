// SPDX-License-Identifier: BSD-3-Clause
// Tests a search whose trials are jobs of Slurm (app/search_session.hpp, runner/slurm/slurm_runner.hpp): it
// must make the decisions of a local one, even if exp is killed while jobs wait or work. Slurm's daemons run
// only if ENCORE_TEST_SLURM is set.
#include <signal.h>

#include <chrono>
#include <random>
#include <thread>

#include "system/control/hold.hpp"
#include "system/slurm/cluster.hpp"

namespace encore::system_test {
namespace {

/// `options` are lines of [search]; the scripted worker's score follows from two settings.
void write_search(Sandbox& sandbox, const std::string& options) {
  sandbox.set("FAKE_SURFACE", "1");
  sandbox.set("FAKE_STEP_MS", "1");
  sandbox.write("search.toml", tiny_experiment("tune") + "[search]\n" + options +
                                   "[search.space]\n"
                                   "\"optimizer.learning_rate\" = { log_uniform = [1e-5, 1.0] }\n"
                                   "\"model.dropout\" = { uniform = [0.0, 0.5] }\n");
}

/// Returns everything that a search stores, except for its clocks.
std::string record_of(const Sandbox& sandbox) {
  std::string all;
  for (const char* query :
       {"SELECT point FROM search_trial ORDER BY number",
        "SELECT kind || ' ' || trial || ' ' || epochs || ' ' || observations FROM search_decision ORDER BY "
        "number",
        "SELECT trial || ' ' || epochs || ' ' || outcome || ' ' || scores FROM search_observation ORDER BY "
        "number",
        "SELECT question || ' ' || step || ' ' || value FROM current_digest JOIN run ON run.number = "
        "current_digest.run WHERE run.state = 'completed' ORDER BY question, step"})
    for (const std::string& row : sandbox.query(query)) all += row + "\n";
  return all;
}

void expect_record_of_local_search(Cluster& cluster, const std::string& options) {
  Sandbox local;
  write_search(local, options);
  const runner::ProgramOutput output = local.exp({"run", "search.toml", "-q"});
  EXPECT_EQ(output.end.exit_code, 0) << output.errors;
  EXPECT_EQ(record_of(cluster.sandbox()), record_of(local));
}

void expect_verified_without_duplicates(Cluster& cluster) {
  const runner::ProgramOutput verified = cluster.sandbox().exp({"verify", "tune"});
  EXPECT_TRUE(contains(verified.output, "tune  equal  ")) << verified.output << verified.errors;
  EXPECT_EQ(cluster.sandbox().one("SELECT count(*) FROM (SELECT 1 FROM current_point GROUP BY run, metric, "
                                  "step HAVING count(*) > 1)"),
            "0")
      << "duplicate points";
  EXPECT_EQ(cluster.slurm("squeue -h"), "") << "no job is left";
}

TEST(SlurmSearch, ContinuesTheJobsOfAKilledExpAndDecidesAsALocalOne) {
  NEEDS_SLURM_FOR_A_SHORT_TEST;
  Cluster cluster;
  const std::string options = "trials = 3\nstartup = 2\npruning = \"asha\"\neta = 2\n";
  write_search(cluster.sandbox(), options);
  Hold hold(cluster.sandbox(), 3);  // workers wait in step 3
  const pid_t exp = cluster.start("search.toml");
  hold.wait_for(1);
  ::kill(exp, SIGKILL);
  Sandbox::wait(exp);
  hold.release();
  const runner::ProgramOutput output = cluster.run("search.toml");
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  expect_record_of_local_search(cluster, options);
  expect_verified_without_duplicates(cluster);
  EXPECT_TRUE(contains(cluster.run("search.toml").output, "nothing to do: search tune is complete"));
}

TEST(SlurmSearch, StopEndsItWithACheckpointAndTheSameCommandResumes) {
  NEEDS_SLURM_FOR_A_LONG_TEST;
  Cluster cluster;
  const std::string options = "trials = 3\nstartup = 2\n";
  write_search(cluster.sandbox(), options);
  Hold hold(cluster.sandbox(), 8);  // workers wait in step 8
  const pid_t exp = cluster.start("search.toml");
  hold.wait_for(1);
  ::kill(exp, SIGINT);
  EXPECT_EQ(Sandbox::wait(exp)->exit_code, 75) << cluster.sandbox().read("output.txt");
  EXPECT_TRUE(contains(cluster.sandbox().read("output.txt"), "search unfinished"));
  EXPECT_EQ(cluster.slurm("squeue -h"), "");
  EXPECT_EQ(cluster.sandbox().one("SELECT count(*) FROM search_observation"), "0");
  hold.release();
  const runner::ProgramOutput output = cluster.run("search.toml");
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  expect_record_of_local_search(cluster, options);
  expect_verified_without_duplicates(cluster);
}

TEST(SlurmSearch, WithFourTrialsAtOnceCompletesAfterKills) {
  NEEDS_SLURM_FOR_A_LONG_TEST;
  Cluster cluster;
  write_search(cluster.sandbox(), "trials = 10\nstartup = 4\npruning = \"asha\"\neta = 2\n");
  std::mt19937 random(7);
  int hits = 0;
  for (int kill = 0; kill < 6; ++kill) {
    const pid_t exp = cluster.start("search.toml", {"-j", "4"});
    std::this_thread::sleep_for(
        std::chrono::milliseconds(std::uniform_int_distribution<int>(200, 5000)(random)));
    ::kill(exp, SIGKILL);
    if (Sandbox::wait(exp)->signal == SIGKILL) ++hits;
  }
  EXPECT_GT(hits, 0) << "the search was over before anything was killed";
  EXPECT_TRUE(eventually([&] { return cluster.run("search.toml", {"-j", "4"}).end.exit_code == 0; }));
  EXPECT_EQ(cluster.sandbox().one("SELECT count(*) FROM search_trial"), "10");
  EXPECT_EQ(cluster.slurm("squeue -h -t all -o '%j %F' | sort -u | cut -d ' ' -f 1 | uniq -d"), "")
      << "nothing is submitted twice";
  expect_verified_without_duplicates(cluster);
}

}  // namespace
}  // namespace encore::system_test
