// SPDX-License-Identifier: BSD-3-Clause
// Tests uses of `exp run --launcher slurm` that are rejected before anything is started
// (app/run_session.hpp), and those that Slurm itself rejects. Most need no daemons: stand-ins for Slurm's
// commands answer. The words may change, except those that Slurm writes.
#include "system/slurm/cluster.hpp"

namespace encore::system_test {
namespace {

/// Commands of these names replace Slurm's: these tests need no daemons.
void write_commands(Sandbox& sandbox, const std::string& sbatch) {
  sandbox.write("bin/scontrol", "#!/bin/sh\necho 'MaxArraySize            = 1001'\n");
  sandbox.write("bin/squeue", "#!/bin/sh\nexit 0\n");
  sandbox.write("bin/sbatch", "#!/bin/sh\n" + sbatch + "\n");
  sandbox.shell("chmod +x bin/*");
  const char* path = std::getenv("PATH");
  sandbox.set("PATH", (sandbox.folder() / "bin").string() + ":" + (path == nullptr ? "" : path));
  sandbox.set("XDG_CONFIG_HOME", (sandbox.folder() / "config").string());
}

TEST(SlurmRefusal, RejectsInvalidRequestsBeforeAnythingStarts) {
  Sandbox sandbox;
  write_commands(sandbox, "exit 1");
  sandbox.write("site.toml", "[slurm]\npartitoin = \"a\"\n");
  const auto expect_refused = [&](std::vector<std::string> words, const std::string& message) {
    words.insert(words.begin(), {"run", "tiny.toml"});
    const runner::ProgramOutput output = sandbox.exp(words);
    EXPECT_EQ(output.end.exit_code, 2) << message << output.output << output.errors;
    EXPECT_TRUE(contains(output.errors, message)) << output.errors;
  };
  expect_refused({"--site", "site.toml"}, "--site needs --launcher slurm");
  expect_refused({"--detach"}, "--detach needs --launcher slurm");
  expect_refused({"--launcher", "slurm", "-j", "2"}, "-j and --launcher slurm exclude each other");
  expect_refused({"--launcher", "slurm", "--hosts", "a"}, "remove --hosts");
  expect_refused({"--launcher", "slurm", "--devices", "0"}, "--devices selects GPUs of this machine");
  expect_refused({"--launcher", "slurm", "--step-timeout", "-5"}, "invalid --step-timeout -5");
  expect_refused({"--launcher", "ssh", "--hosts", "a", "--ranks", "2"}, "--ranks needs --launcher slurm");
  expect_refused({"--launcher", "slurm", "--site", "site.toml"}, "site.toml:2:1");
  expect_refused({"--launcher", "slurm", "--site", "nowhere.toml"}, "cannot read nowhere.toml");
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db"));
}

TEST(SlurmRefusal, RanksNeedALauncherOfTheSiteAndDivideTheShards) {
  Sandbox sandbox;
  write_commands(sandbox, "exit 1");
  sandbox.write("mute.toml", "[slurm]\ncpus = 2\n");
  sandbox.write("site.toml", "[slurm]\nmpi = \"srun --mpi=pmix -n {ranks}\"\n");
  sandbox.write("wrong.toml", "[slurm]\nmpi = \"srun -n {rank}\"\n");
  sandbox.write("own.toml", "[slurm]\noptions = [\"--ntasks=4\"]\n");
  const auto expect_refused = [&](const std::string& site, const std::string& ranks,
                                  const std::string& message) {
    const runner::ProgramOutput output =
        sandbox.exp({"run", "tiny.toml", "--launcher", "slurm", "--site", site, "--ranks", ranks, "-S",
                     "train.gradient_shards=4"});
    EXPECT_EQ(output.end.exit_code, 2) << message << output.output << output.errors;
    EXPECT_TRUE(contains(output.errors, message)) << output.errors;
  };
  expect_refused("mute.toml", "2",
                 "--ranks 2 with --launcher slurm needs the command that starts ranks inside a job");
  expect_refused("site.toml", "3", "--ranks 3 does not divide train.gradient_shards = 4");
  expect_refused("site.toml", "2", "was built without MPI");  // the scripted worker
  expect_refused("wrong.toml", "2", "wrong.toml:2:7");
  expect_refused("own.toml", "2", "is set by Encore itself; --ranks of exp run decides it");
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db"));
}

TEST(SlurmRefusal, ASearchIsNeitherDetachedNorGivenRanks) {
  Sandbox sandbox;
  write_commands(sandbox, "exit 1");
  sandbox.write("site.toml", "[slurm]\nmpi = \"srun -n {ranks}\"\n");
  sandbox.write("search.toml", tiny_experiment("tune") +
                                   "[search]\ntrials = 2\n[search.space]\n\"model.dropout\" = { uniform = "
                                   "[0.0, 0.5] }\n");
  const auto expect_refused = [&](std::vector<std::string> words, const std::string& message) {
    words.insert(words.begin(), {"run", "search.toml", "--launcher", "slurm", "--site", "site.toml"});
    const runner::ProgramOutput output = sandbox.exp(words);
    EXPECT_EQ(output.end.exit_code, 2) << message << output.output << output.errors;
    EXPECT_TRUE(contains(output.errors, message)) << output.errors;
  };
  expect_refused({"--detach"}, "--detach cannot be used in a search");
  expect_refused({"--ranks", "2"}, "--ranks cannot be used with [search]");
  expect_refused({"-j", "0"}, "invalid -j 0");
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db"));
}

TEST(SlurmRefusal, AMachineWithoutSlurmSaysSo) {
  Sandbox sandbox;
  write_commands(sandbox, "exit 1");
  sandbox.write(
      "bin/scontrol",
      "#!/bin/sh\necho 'slurm_load_ctl_conf error: Unable to contact slurm controller' >&2\nexit 1\n");
  const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml", "--launcher", "slurm"});
  EXPECT_NE(output.end.exit_code, 0);
  EXPECT_TRUE(contains(output.errors, "Slurm does not answer: slurm_load_ctl_conf error")) << output.errors;
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db"));
}

TEST(SlurmRefusal, AMessageOfSlurmIsTheReasonOfTheRuns) {
  Sandbox sandbox;
  write_commands(sandbox, "echo 'sbatch: error: invalid partition specified: nowhere' >&2; exit 1");
  const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml", "--launcher", "slurm"});
  EXPECT_EQ(output.end.exit_code, 75) << output.output << output.errors;
  EXPECT_TRUE(
      contains(output.errors, "its job was refused by Slurm: sbatch: error: invalid partition specified"))
      << output.errors;
  EXPECT_EQ(sandbox.one(states_query), "1 interrupted");
}

TEST(SlurmRefusal, TheSiteFileChangesNoIdentity) {
  Sandbox sandbox;
  write_commands(sandbox, "echo 7");
  sandbox.write("config/encore/site.toml", "[slurm]\npartition = \"gpu\"\nruns_per_job = 3\n");
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml", "--launcher", "slurm", "--detach"}).end.exit_code, 0);
  Sandbox local;
  ASSERT_EQ(local.exp({"run", "tiny.toml"}).end.exit_code, 0);
  EXPECT_EQ(sandbox.one("SELECT question FROM run"), local.one("SELECT question FROM run"));
}

TEST(SlurmRefusal, AFolderThatTheNodesDoNotShareIsNamed) {
  NEEDS_SLURM_FOR_A_SHORT_TEST;
  if (!Sandbox().shell("unshare --mount mount -t tmpfs none /mnt").end.success())
    GTEST_SKIP() << "this machine does not allow to mount a folder, as in some containers";
  Cluster cluster;
  std::filesystem::create_directory(cluster.sandbox().folder() / "encore.db.runs");
  for (const char* node : {"n1", "n2"}) cluster.start_node(node, "encore.db.runs");
  const runner::ProgramOutput output = cluster.run("tiny.toml");
  EXPECT_EQ(output.end.exit_code, 75) << output.output << output.errors;
  const std::string jobs = (cluster.sandbox().folder() / "encore.db.runs" / "jobs").string();
  EXPECT_TRUE(contains(output.errors, "before the run began: nothing was written to " + jobs + "/encore-") &&
              contains(output.errors,
                       " from n1; the folder of the database must lie on a file system that the nodes share "
                       "with this machine, under the same path"))
      << output.errors;
  EXPECT_EQ(cluster.sandbox().one(states_query), "1 interrupted");
  for (const char* node : {"n1", "n2"}) cluster.start_node(node);
  const runner::ProgramOutput again = cluster.run("tiny.toml");
  EXPECT_EQ(again.end.exit_code, 0) << again.output << again.errors;
  cluster.expect_like_local("tiny.toml");
}

TEST(SlurmRefusal, APartitionThatIsNotThereIsNamedBySlurmItself) {
  NEEDS_SLURM_FOR_A_SHORT_TEST;
  Cluster cluster({}, "partition = \"nowhere\"\n");
  const runner::ProgramOutput output = cluster.run("tiny.toml");
  EXPECT_EQ(output.end.exit_code, 75) << output.output << output.errors;
  EXPECT_TRUE(contains(output.errors, "refused by Slurm")) << output.errors;
}

}  // namespace
}  // namespace encore::system_test
