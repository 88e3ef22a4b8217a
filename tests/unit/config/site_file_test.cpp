// SPDX-License-Identifier: BSD-3-Clause
// Tests parse_site() (config/site_file.hpp): site.toml, in which users describe their Slurm cluster for `exp
// run --launcher slurm`. Checks all options, their defaults, and the place and words of mistakes. The options
// are documented in docs/guides/sites.md. Site files of users name them, so names and defaults must stay;
// words may change.
#include "config/site_file.hpp"

#include <gtest/gtest.h>

#include "config/error.hpp"

namespace encore::config {
namespace {

/// Returns the messages with which the text is rejected; empty if it is accepted.
std::string problems_of(const std::string& text) {
  try {
    parse_site(text, "site.toml");
  } catch (const ConfigErrors& errors) {
    return errors.what();
  }
  return "";
}

TEST(SiteFile, AnEmptyOneHasTheDefaults) {
  const SlurmSite site = parse_site("", "site.toml");
  EXPECT_EQ(site.max_submits_per_minute, 10);
  EXPECT_EQ(site.runs_per_job, 1);
  EXPECT_EQ(site.checkpoint_seconds, 120);
  EXPECT_TRUE(site.requeue);
  EXPECT_TRUE(site.partition.empty());
}

TEST(SiteFile, EveryOptionIsRead) {
  const SlurmSite site = parse_site(R"([slurm]
partition = "gpu"
account = "p123"
time = "1-12"
memory = "8G"
gpus = "a100:1"
cpus = 4
modules = ["gcc/12", "cuda"]
before = ["ulimit -c 0"]
container = "apptainer exec e.sif"
options = ["--qos=long", "--exclusive"]
mpi = "srun --mpi=pmix -n {ranks} -c {cpus}"
max_submits_per_minute = 5
runs_per_job = 20
max_array_size = 100
checkpoint_seconds = 300
requeue = false
queue_seconds = 30
)",
                                    "site.toml");
  EXPECT_EQ(site.partition, "gpu");
  EXPECT_EQ(site.account, "p123");
  EXPECT_EQ(site.time, "1-12");
  EXPECT_EQ(site.memory, "8G");
  EXPECT_EQ(site.gpus, "a100:1");
  EXPECT_EQ(site.cpus, 4);
  EXPECT_EQ(site.modules, (std::vector<std::string>{"gcc/12", "cuda"}));
  EXPECT_EQ(site.before, (std::vector<std::string>{"ulimit -c 0"}));
  EXPECT_EQ(site.container, "apptainer exec e.sif");
  EXPECT_EQ(site.options, (std::vector<std::string>{"--qos=long", "--exclusive"}));
  EXPECT_EQ(site.mpi, "srun --mpi=pmix -n {ranks} -c {cpus}");
  EXPECT_EQ(site.max_submits_per_minute, 5);
  EXPECT_EQ(site.runs_per_job, 20);
  EXPECT_EQ(site.max_array_size, 100);
  EXPECT_EQ(site.checkpoint_seconds, 300);
  EXPECT_FALSE(site.requeue);
  EXPECT_EQ(site.queue_seconds, 30);
}

TEST(SiteFile, MistakesAreNamedWithTheirPlace) {
  const auto expect = [](const std::string& text, const std::string& message) {
    const std::string found = problems_of(text);
    EXPECT_NE(found.find(message), std::string::npos) << "for " << text << "\nfound " << found;
  };
  expect("[slurm]\npartitoin = \"gpu\"\n", "site.toml:2:1");
  expect("[slurm]\npartitoin = \"gpu\"\n", "did you mean \"partition\"");
  expect("[pbs]\n", "site.toml:1:2: unknown table \"pbs\" of the site file; there is [slurm]");
  expect("slurm = 3\n", "\"slurm\" must be a table");
  expect("[slurm]\nruns_per_job = 0\n", "must be at least 1");
  expect("[slurm]\nruns_per_job = \"4\"\n", "must be an integer");
  expect("[slurm]\ntime = \"4h\"\n", "option \"time\" of [slurm] must be minutes");
  expect("[slurm]\ntime = \"4h\"\n", "site.toml:2:8");
  expect("[slurm]\noptions = [\"-J mine\"]\n", "site.toml:2:11");
  expect("[slurm]\nmemory = \"8GB\"\n", "as \"8G\", found \"8GB\"");
  expect("[slurm]\npartition = \"a b\"\n", "must be one word without quotes");
  expect("[slurm]\noptions = [\"qos=long\"]\n", "is not an option of sbatch");
  expect("[slurm]\noptions = [\"--array=0-3\"]\n", "`runs_per_job` of [slurm] decides it");
  expect("[slurm]\noptions = [\"-J mine\"]\n", "is set by Encore itself");
  expect("[slurm]\noptions = [\"-n 4\"]\n", "is set by Encore itself; --ranks of exp run decides it");
  expect("[slurm]\noptions = [\"--wrap=a\"]\n", "is set by Encore itself; `before` of [slurm] decides it");
  for (const std::string command : {"-n {ranks}", "srun -n {rank}", "{ranks}"})
    expect("[slurm]\nmpi = \"" + command + "\"\n", "option \"mpi\" of [slurm] must be a command");
  expect("[slurm\n", "site.toml:1:");
  expect("[slurm]\nmax_submits_per_minute = -1\n", "site.toml:2:26");
}

TEST(SiteFile, StringsMayBeLong) {
  const std::size_t many = 300'000;
  const std::string digits(many, '1'), letters(many, 'x'), braces(many, '{');
  const SlurmSite site = parse_site("[slurm]\ntime = \"" + digits + "\"\nmemory = \"" + digits + "G\"\n" +
                                        "account = \"" + letters + "\"\nmpi = \"" + letters + "\"\n",
                                    "site.toml");
  EXPECT_EQ(site.mpi.size(), many);
  for (const std::string& line : {"time = \"" + digits + "h\"", "memory = \"" + digits + "GB\"",
                                  "mpi = \"a" + braces + "\"", "gpus = \"" + letters + " \""})
    EXPECT_NE(problems_of("[slurm]\n" + line + "\n").find("of [slurm] must be"), std::string::npos);
}

TEST(SiteFile, TimesAndMemoryHaveTheFormsOfSlurm) {
  for (const char* time : {"30", "4:00", "4:00:00", "1-12", "1-12:30", "1-12:30:00"})
    EXPECT_EQ(problems_of("[slurm]\ntime = \"" + std::string(time) + "\"\n"), "") << time;
  for (const char* time : {"-", "1-", "-1", ":", "1:", "1:2:3:4", "1-2-3", "1-2:3:4:5", "a", " 1"})
    EXPECT_NE(problems_of("[slurm]\ntime = \"" + std::string(time) + "\"\n"), "") << time;
  for (const char* memory : {"8", "8K", "8G", "8T"})
    EXPECT_EQ(problems_of("[slurm]\nmemory = \"" + std::string(memory) + "\"\n"), "") << memory;
  for (const char* memory : {"G", "8g", "8 G", "GG", "-8"})
    EXPECT_NE(problems_of("[slurm]\nmemory = \"" + std::string(memory) + "\"\n"), "") << memory;
}

TEST(SiteFile, OneThatCannotBeReadIsNamed) {
  try {
    load_site("/nowhere/site.toml");
    FAIL() << "nothing was thrown";
  } catch (const ConfigErrors& errors) {
    EXPECT_NE(std::string(errors.what()).find("cannot read /nowhere/site.toml"), std::string::npos);
  }
}

}  // namespace
}  // namespace encore::config
