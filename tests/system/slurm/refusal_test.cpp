// What is refused of --launcher slurm, before anything is started, and what Slurm itself refuses.
#include "system/slurm/cluster.hpp"

namespace encore::system_test {
namespace {

/// Commands of that name stand for Slurm's: these need no daemons.
void write_commands(Sandbox& sandbox, const std::string& sbatch) {
  sandbox.write("bin/scontrol", "#!/bin/sh\necho 'MaxArraySize            = 1001'\n");
  sandbox.write("bin/squeue", "#!/bin/sh\nexit 0\n");
  sandbox.write("bin/sbatch", "#!/bin/sh\n" + sbatch + "\n");
  sandbox.shell("chmod +x bin/*");
  const char* path = std::getenv("PATH");
  sandbox.set("PATH", (sandbox.folder() / "bin").string() + ":" + (path == nullptr ? "" : path));
  sandbox.set("XDG_CONFIG_HOME", (sandbox.folder() / "config").string());
}

TEST(SlurmRefusal, WhatCannotBeMeantIsRefusedBeforeAnythingIsStarted) {
  Sandbox sandbox;
  write_commands(sandbox, "exit 1");
  sandbox.write("site.toml", "[slurm]\npartitoin = \"a\"\n");
  const auto expect_refused = [&](std::vector<std::string> words, const std::string& message) {
    words.insert(words.begin(), {"run", "tiny.toml"});
    const ProgramOutput output = sandbox.exp(words);
    EXPECT_EQ(output.end.exit_code, 2) << message << output.output << output.errors;
    EXPECT_TRUE(contains(output.errors, message)) << output.errors;
  };
  expect_refused({"--site", "site.toml"}, "--site goes with --launcher slurm");
  expect_refused({"--detach"}, "--detach goes with --launcher slurm");
  expect_refused({"--launcher", "slurm", "-j", "2"}, "-j does not go with --launcher slurm");
  expect_refused({"--launcher", "slurm", "--hosts", "a"}, "--hosts names machines");
  expect_refused({"--launcher", "slurm", "--devices", "0"}, "--devices names GPUs of this machine");
  expect_refused({"--launcher", "slurm", "--step-timeout", "5"}, "--step-timeout does not go with");
  expect_refused({"--launcher", "slurm", "--ranks", "2"}, "--ranks does not go with --launcher");
  expect_refused({"--launcher", "slurm", "--site", "site.toml"}, "site.toml:2:1");
  expect_refused({"--launcher", "slurm", "--site", "nowhere.toml"}, "cannot read nowhere.toml");
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db"));
}

TEST(SlurmRefusal, AMachineWithoutSlurmSaysSo) {
  Sandbox sandbox;
  write_commands(sandbox, "exit 1");
  sandbox.write(
      "bin/scontrol",
      "#!/bin/sh\necho 'slurm_load_ctl_conf error: Unable to contact slurm controller' >&2\nexit 1\n");
  const ProgramOutput output = sandbox.exp({"run", "tiny.toml", "--launcher", "slurm"});
  EXPECT_NE(output.end.exit_code, 0);
  EXPECT_TRUE(contains(output.errors, "Slurm does not answer: slurm_load_ctl_conf error")) << output.errors;
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db"));
}

TEST(SlurmRefusal, WhatSlurmRefusesIsTheReasonOfTheRuns) {
  Sandbox sandbox;
  write_commands(sandbox, "echo 'sbatch: error: invalid partition specified: nowhere' >&2; exit 1");
  const ProgramOutput output = sandbox.exp({"run", "tiny.toml", "--launcher", "slurm"});
  EXPECT_EQ(output.end.exit_code, 75) << output.output << output.errors;
  EXPECT_TRUE(
      contains(output.errors, "its job was refused by Slurm: sbatch: error: invalid partition specified"))
      << output.errors;
  EXPECT_EQ(sandbox.one(states_query), "1 interrupted");
}

TEST(SlurmRefusal, WhatIsInTheSiteFileChangesNoIdentity) {
  Sandbox sandbox;
  write_commands(sandbox, "echo 7");
  sandbox.write("config/encore/site.toml", "[slurm]\npartition = \"gpu\"\nruns_per_job = 3\n");
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml", "--launcher", "slurm", "--detach"}).end.exit_code, 0);
  Sandbox local;
  ASSERT_EQ(local.exp({"run", "tiny.toml"}).end.exit_code, 0);
  EXPECT_EQ(sandbox.one("SELECT question FROM run"), local.one("SELECT question FROM run"));
}

TEST(SlurmRefusal, APartitionThatIsNotThereIsNamedBySlurmItself) {
  NEEDS_SLURM(false);
  Cluster cluster({}, "partition = \"nowhere\"\n");
  const ProgramOutput output = cluster.run("tiny.toml");
  EXPECT_EQ(output.end.exit_code, 75) << output.output << output.errors;
  EXPECT_TRUE(contains(output.errors, "refused by Slurm")) << output.errors;
}

}  // namespace
}  // namespace encore::system_test
