// SPDX-License-Identifier: BSD-3-Clause
// Tests runs of several ranks as jobs of Slurm (runner/slurm/submission.hpp): they must have the bits of one
// process, whatever starts the ranks, over two nodes and over the time limit; requests reach rank 0. Slurm's
// daemons run only if ENCORE_TEST_SLURM is set (cluster.hpp).
#include <optional>

#include <nlohmann/json.hpp>

#include "system/control/hold.hpp"
#include "system/slurm/cluster.hpp"

namespace encore::system_test {
namespace {

/// Open MPI's own launcher takes the nodes from Slurm; by default it rejects root, and more ranks than cores.
constexpr const char* by_mpirun =
    "mpi = \"mpirun -n {ranks} --allow-run-as-root --bind-to none --oversubscribe\"\n";

std::string why_no_ranks(bool full) {
  if (const std::string why = why_no_daemons(full); !why.empty()) return why;
  const runner::ProgramOutput version =
      runner::run_program(ENCORE_BUILD_DIR "/bin/encore-worker", {"version"});
  if (!version.end.success()) return "this worker does not run here";
  if (nlohmann::json::parse(version.output).at("mpi") == "") return "this worker has no MPI";
  return Sandbox::has("mpirun") ? "" : "no mpirun here (on Debian openmpi-bin)";
}
#define NEEDS_RANKS(full) \
  if (const std::string why = why_no_ranks(full); !why.empty()) GTEST_SKIP() << why

/// Writes a run of four gradient shards, with a schedule that a Hold can stop.
void write_shards(const Sandbox& sandbox) {
  std::string text = "plugin_path = [\"" PAUSING_SCHEDULE "\"]\n" + tiny_experiment() +
                     "gradient_shards = 4\ncheckpoint_every = 3\n";
  replace_first(text, "\"constant\"", "\"pausing\"");
  sandbox.write("tiny.toml", text);
}

void expect_bits_of_one_process(Cluster& cluster) {
  Sandbox local(true);
  local.write("tiny.toml", cluster.sandbox().read("tiny.toml"));
  EXPECT_EQ(local.exp({"run", "tiny.toml"}).end.exit_code, 0);
  const std::string digests = local.one(digests_query);
  EXPECT_FALSE(digests.empty());
  EXPECT_EQ(cluster.sandbox().one(digests_query), digests);
}

/// Returns "2 on 1": the number of ranks that trained the last attempt, and the number of hosts that they
/// name.
std::string ranks_of_last_attempt(Cluster& cluster) {
  const runner::ProgramOutput shown = cluster.sandbox().exp({"show", "tiny", "--json"});
  const nlohmann::json attempts = nlohmann::json::parse(shown.output).at("attempts");
  const nlohmann::json& ranks = attempts.back().at("host").at("ranks");
  return std::to_string(ranks.at("count").get<int>()) + " on " + std::to_string(ranks.at("hosts").size());
}

/// A run of two ranks, in a job, that both wait in step 8.
struct HeldRanks {
  /// site: further lines of [slurm].
  explicit HeldRanks(const std::string& site = "") : cluster({}, by_mpirun + site, true) {
    write_shards(cluster.sandbox());
    hold.emplace(cluster.sandbox(), 8);
    EXPECT_EQ(cluster.run("tiny.toml", {"--ranks", "2", "--detach"}).end.exit_code, 0);
    hold->wait_for(2);
  }

  Cluster cluster;
  std::optional<Hold> hold;
};

TEST(SlurmRanks, OnTwoNodesHaveTheBitsOfOneProcess) {
  NEEDS_RANKS(false);
  Cluster cluster({}, std::string(by_mpirun) + "options = [\"--nodes=2\"]\n", true);
  write_shards(cluster.sandbox());
  const runner::ProgramOutput output = cluster.run("tiny.toml", {"--ranks", "2"});
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors
                                     << cluster.sandbox().exp({"logs", "tiny"}).output;
  EXPECT_EQ(cluster.slurm("squeue -h -t all -o '%T %D %C'"), "COMPLETED 2 2\n");
  EXPECT_EQ(ranks_of_last_attempt(cluster), "2 on 2");
  expect_bits_of_one_process(cluster);
}

TEST(SlurmRanks, StopWritesACheckpointAndAnotherNumberOfRanksResumes) {
  NEEDS_RANKS(true);
  HeldRanks held;
  Cluster& cluster = held.cluster;
  cluster.sandbox().exp({"status"});
  const runner::ProgramOutput stop = cluster.sandbox().exp({"stop", "tiny"});
  EXPECT_EQ(stop.end.exit_code, 0) << stop.output << stop.errors;
  held.hold->release();
  ASSERT_TRUE(cluster.comes_to("1 stopped")) << cluster.sandbox().one("SELECT reason FROM run");
  EXPECT_EQ(cluster.sandbox().one("SELECT max(step) >= 8 FROM checkpoint"), "1") << "at its last step";
  const runner::ProgramOutput output = cluster.run("tiny.toml", {"--ranks", "4"});
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  EXPECT_EQ(ranks_of_last_attempt(cluster), "4 on 4");
  expect_bits_of_one_process(cluster);
}

TEST(SlurmRanks, ScancelEndsAllOfThemAndIsTheReason) {
  NEEDS_RANKS(true);
  HeldRanks held;
  Cluster& cluster = held.cluster;
  cluster.slurm("scancel --name=$(squeue -h -o %j)");
  ASSERT_TRUE(eventually([&] {
    cluster.sandbox().exp({"status"});
    return cluster.sandbox().one("SELECT state FROM run") != "running";
  }));
  EXPECT_TRUE(contains(cluster.sandbox().one("SELECT reason FROM run"), "was cancelled in Slurm (scancel)"))
      << cluster.sandbox().one("SELECT reason FROM run");
  EXPECT_TRUE(cluster.sandbox().wait_until_no_workers());
  held.hold->release();
  EXPECT_EQ(cluster.run("tiny.toml", {"--ranks", "2"}).end.exit_code, 0);
  expect_bits_of_one_process(cluster);
}

TEST(SlurmRanks, WriteACheckpointBeforeTheTimeLimitAndResumeInTheSameJob) {
  NEEDS_RANKS(true);
  HeldRanks held("time = \"2\"\ncheckpoint_seconds = 110\n");
  Cluster& cluster = held.cluster;
  // Slurm checks limits every thirty seconds.
  ASSERT_TRUE(eventually([&] { return cluster.slurm("squeue -h -o %M") > "1:05\n"; }));
  held.hold->release();
  EXPECT_TRUE(cluster.comes_to("1 completed")) << cluster.sandbox().one("SELECT reason FROM run");
  EXPECT_EQ(cluster.sandbox().one("SELECT count(*) FROM attempt"), "2");
  EXPECT_TRUE(contains(cluster.sandbox().one("SELECT reason FROM attempt WHERE ordinal = 1"),
                       "its job came near its time limit"))
      << cluster.sandbox().one("SELECT reason FROM attempt WHERE ordinal = 1");
  EXPECT_EQ(ranks_of_last_attempt(cluster), "2 on 2");
  expect_bits_of_one_process(cluster);
}

TEST(SlurmRanks, StartedBySlurmItselfHaveTheSameBits) {
  NEEDS_RANKS(true);
  Cluster cluster({}, "mpi = \"srun --mpi=pmix -n {ranks} -c {cpus}\"\ncpus = 2\noptions = [\"--nodes=1\"]\n",
                  true);
  if (!contains(cluster.slurm("srun --mpi=list 2>&1"), "pmix")) GTEST_SKIP() << "this Slurm has no PMIx";
  write_shards(cluster.sandbox());
  const runner::ProgramOutput output = cluster.run("tiny.toml", {"--ranks", "2"});
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors
                                     << cluster.sandbox().exp({"logs", "tiny"}).output;
  EXPECT_EQ(ranks_of_last_attempt(cluster), "2 on 2");
  EXPECT_EQ(cluster.slurm("squeue -h -t all -o '%T %C'"), "COMPLETED 4\n");
  expect_bits_of_one_process(cluster);
}

}  // namespace
}  // namespace encore::system_test
