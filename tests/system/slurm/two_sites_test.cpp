// SPDX-License-Identifier: BSD-3-Clause
// Tests two sites on one database (runner/slurm/submitter.hpp, runner/slurm/queue_view.hpp): two clusters,
// each with stand-ins for Slurm's commands that do the work themselves. Neither site may touch the jobs of
// the other. No daemons are needed.
#include <gtest/gtest.h>

#include <cstdlib>

#include <nlohmann/json.hpp>

#include "system/slurm/cluster.hpp"

namespace encore::system_test {
namespace {

/// The elements of an array work at once, each in a process of its own; while the file `hold` exists, they
/// wait.
constexpr const char* sbatch = R"sh(#!/bin/bash
here=$(cd "$(dirname "$0")" && pwd) name= last=0 out=
for word; do case $word in
  --job-name=*) name=${word#*=} ;; --array=0-*) last=${word#--array=0-} ;; --output=*) out=${word#*=} ;;
esac; done
id=1; until mkdir "$here/job.$id" 2>/dev/null; do id=$((id + 1)); done
put() { echo "$id|$1|$name|$2|None|$3" >"$here/job.$id/$1.new"; mv "$here/job.$id/$1.new" "$here/job.$id/$1"; }
for ((element = 0; element <= last; element++)); do
  put $element PENDING ""
  (
    export SLURM_JOB_ID=$id SLURM_ARRAY_TASK_ID=$element
    while [ -e "$here/hold" ]; do sleep 0.1; done
    put $element RUNNING n1
    bash "${!#}" >>"${out//%a/$element}" 2>&1 && put $element COMPLETED n1 || put $element FAILED n1
  ) </dev/null >/dev/null 2>&1 &
done
echo "$id"
)sh";

class TwoSites : public ::testing::Test {
 protected:
  void SetUp() override {
    sandbox_.set("FAKE_STEP_MS", "1");
    write_sweep(sandbox_, 6);
    for (const std::string site : {"north", "south"}) {
      sandbox_.write(site + "/sbatch", sbatch);
      sandbox_.write(site + "/squeue", "#!/bin/sh\ncat $(dirname \"$0\")/job.*/[0-9] 2>/dev/null\nexit 0\n");
      sandbox_.write(site + "/scontrol", "#!/bin/sh\necho 'ClusterName             = " + site +
                                             "'\necho 'MaxArraySize            = 1001'\n");
      sandbox_.write(site + "/scancel", "#!/bin/sh\necho \"$@\" >>" + site + "/cancelled\n");
      sandbox_.write(site + "/sacct", "#!/bin/sh\nexit 1\n");
    }
    sandbox_.shell("chmod +x north/* south/*");
    sandbox_.write("north.toml", "[slurm]\npartition = \"n\"\nqueue_seconds = 1\n");
    sandbox_.write("south.toml",
                   "[slurm]\naccount = \"s\"\nruns_per_job = 2\nmax_array_size = 1\nqueue_seconds = 1\n");
  }

  void log_in(const std::string& site) {
    const char* path = std::getenv("PATH");
    sandbox_.set("PATH", (sandbox_.folder() / site).string() + ":" + (path == nullptr ? "" : path));
    sandbox_.set("SLURM_CONF", site);
  }
  std::vector<std::string> submit(const std::string& site, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"run", "sweep.toml", "--launcher", "slurm", "--site", site + ".toml"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// Each run was worked on once, and has the bits and points of a local one.
  void expect_like_local() const {
    EXPECT_EQ(sandbox_.one(states_query), "6 completed");
    EXPECT_EQ(sandbox_.one("SELECT count(*) FROM attempt"), "6");
    EXPECT_EQ(sandbox_.one("SELECT count(*) FROM (SELECT 1 FROM current_point GROUP BY run, metric, step "
                           "HAVING count(*) > 1)"),
              "0");
    Sandbox local;
    write_sweep(local, 6);
    EXPECT_EQ(local.exp({"run", "sweep.toml"}).end.exit_code, 0);
    EXPECT_FALSE(local.one(digests_query).empty());
    EXPECT_EQ(sandbox_.one(digests_query), local.one(digests_query));
    const char* points = "SELECT count(*) FROM current_point";
    EXPECT_EQ(sandbox_.one(points), local.one(points));
  }

  Sandbox sandbox_;
};

TEST_F(TwoSites, TwoThatSubmitOneSweepAtOnceShareIt) {
  log_in("north");
  const pid_t north = sandbox_.start(submit("north"), "north.txt");
  log_in("south");
  const pid_t south = sandbox_.start(submit("south"), "south.txt");
  for (const pid_t exp : {north, south}) {
    const std::optional<runner::ProcessEnd> end = Sandbox::wait(exp);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit_code, 0) << sandbox_.read("north.txt") << sandbox_.read("south.txt");
  }
  // An exp run that follows its own runs may have ended before those of the other one.
  EXPECT_TRUE(eventually([&] {
    sandbox_.exp({"status"});
    return sandbox_.one(states_query) == "6 completed";
  })) << sandbox_.one(states_query);
  expect_like_local();
}

TEST_F(TwoSites, TheOtherClustersJobsAreNeitherTakenForLostNorCancelled) {
  sandbox_.write("south/hold", "");
  log_in("south");
  const runner::ProgramOutput submitted = sandbox_.exp(submit("south", {"--detach"}));
  EXPECT_EQ(submitted.end.exit_code, 0) << submitted.output << submitted.errors;
  log_in("north");
  for (int look = 0; look < 2; ++look) {
    const runner::ProgramOutput status = sandbox_.exp({"status"});
    EXPECT_TRUE(contains(status.output, "submitted to Slurm on cluster south")) << status.output;
  }
  const runner::ProgramOutput again = sandbox_.exp(submit("north", {"--detach"}));
  EXPECT_TRUE(contains(again.output, "is running in Slurm job")) << again.output;
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM event WHERE body LIKE '%over_since%'"), "0");
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "north" / "job.1"))
      << "nothing is submitted twice";
  std::filesystem::remove(sandbox_.folder() / "south" / "hold");
  EXPECT_TRUE(eventually([&] {
    sandbox_.exp({"status"});
    return sandbox_.one(states_query) == "6 completed";
  })) << sandbox_.one(states_query);
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "north" / "cancelled"));
  expect_like_local();
}

TEST_F(TwoSites, ShowsAndReportsTheAccountingOfItsJobs) {
  sandbox_.write(
      "north/sacct",
      "#!/bin/sh\ncat $(dirname \"$0\")/job.*/[0-9] | while IFS='|' read -r id element name rest; do\n"
      "echo \"${id}_$element|$name|COMPLETED|1240000|\"\n"
      "echo \"${id}_$element.batch|batch|COMPLETED||2000K\"\ndone\n");
  log_in("north");
  ASSERT_EQ(sandbox_.exp(submit("north")).end.exit_code, 0);
  ASSERT_TRUE(eventually([&] {
    sandbox_.exp({"status"});
    return sandbox_.one("SELECT count(*) FROM event WHERE type = 'job_usage'") == "6";
  }));
  const runner::ProgramOutput shown = sandbox_.exp({"show", "s-s2"});
  EXPECT_TRUE(contains(shown.output, "job 1_1: 1.24 MJ, at most 2.0 MB in a process")) << shown.output;
  const nlohmann::json json = nlohmann::json::parse(sandbox_.exp({"show", "s-s2", "--json"}).output);
  EXPECT_EQ(json.at("attempts").at(0).at("job_usage").at("joules"), 1240000.0);
  EXPECT_EQ(json.at("attempts").at(0).at("job_usage").at("resident_bytes"), 2048000);
  ASSERT_EQ(sandbox_.exp({"report", "s", "--format", "md", "-o", "report.md"}).end.exit_code, 0);
  EXPECT_TRUE(contains(sandbox_.read("report.md"), "for 6 jobs: 7.44 MJ")) << "each job counts once";
}

TEST_F(TwoSites, ARunThatIsStoppedFromTheOtherSiteIsStoppedAndNoForeignJobCancelled) {
  sandbox_.write("south/hold", "");
  log_in("south");
  sandbox_.exp(submit("south", {"--detach"}));
  log_in("north");
  const runner::ProgramOutput stop = sandbox_.exp({"stop", "s"});
  EXPECT_EQ(stop.end.exit_code, 0) << stop.output << stop.errors;
  EXPECT_EQ(sandbox_.one(states_query), "6 stopped");
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "north" / "cancelled"))
      << "a number of the other cluster means another job here";
  std::filesystem::remove(sandbox_.folder() / "south" / "hold");
  log_in("south");
  EXPECT_EQ(sandbox_.exp(submit("south")).end.exit_code, 0);
  EXPECT_EQ(sandbox_.one(states_query), "6 completed");
}

}  // namespace
}  // namespace encore::system_test
