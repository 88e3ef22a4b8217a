// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp run --launcher` (runner/launched_runs.hpp, runner/job_keeper.hpp): workers that `exp job` starts
// on another machine and that exp may reach through files only. `sh -c` stands for ssh: the same command
// line, the same files, another session. The last test is of `exp doctor`, which names a remedy for each
// problem. Digests, states and exit codes must stay; messages may change. Hold lets workers wait in a step
// (hold.hpp); the variables FAKE_... are those of the scripted worker (fake_worker.cpp).
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "system/control/hold.hpp"

namespace encore::system_test {
namespace {

const std::vector<std::string> launch = {"--launcher", "sh -c {command} # {host}", "--hosts", "one,two"};

std::vector<std::string> launched(std::vector<std::string> words) {
  words.insert(words.end(), launch.begin(), launch.end());
  return words;
}

void write_sweep(const Sandbox& sandbox) {
  std::string text = tiny_experiment("s");
  text.replace(text.find("seed = 1"), 8, "seeds = [1, 2]");
  sandbox.write("sweep.toml", text + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2, 0.3]\n");
}

constexpr const char* states =
    "SELECT group_concat(n || ' ' || state, ', ') FROM (SELECT count(*) AS n, "
    "state FROM run GROUP BY state ORDER BY state)";
constexpr const char* last_digests =
    "SELECT group_concat(text) FROM (SELECT run.name || ' ' || digest.scope || ' ' || value AS text FROM "
    "digest "
    "JOIN run ON run.number = digest.run WHERE step = (SELECT max(step) FROM digest AS other WHERE other.run "
    "= "
    "digest.run) ORDER BY text)";

/// Returns the digests that one worker alone computes here.
std::string local_digests(const std::vector<std::string>& run) {
  const Sandbox sandbox;
  write_sweep(sandbox);
  sandbox.write("tiny.toml", tiny_experiment());
  EXPECT_EQ(sandbox.exp(run).end.exit_code, 0);
  return sandbox.one(last_digests);
}

TEST(Launcher, ASweepOverTwoHostsHasTheBitsOfALocalOne) {
  const Sandbox sandbox;
  write_sweep(sandbox);
  const runner::ProgramOutput output = sandbox.exp(launched({"run", "sweep.toml"}));
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  EXPECT_TRUE(contains(output.output, "2 workers at once, launched on one, two")) << output.output;
  EXPECT_EQ(sandbox.one(states), "6 completed");
  EXPECT_EQ(
      sandbox.one("SELECT group_concat(DISTINCT host_name) FROM (SELECT host_name FROM attempt ORDER BY 1)"),
      "one,two");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM attempt"), "6");
  const std::string digests = sandbox.one(last_digests);
  EXPECT_FALSE(digests.empty());
  EXPECT_EQ(digests, local_digests({"run", "sweep.toml"}));
}

TEST(Launcher, RunsContinueWithoutTheirExpAndStatusRecordsTheirEnd) {
  Sandbox sandbox;
  sandbox.write("tiny.toml", tiny_experiment());
  Hold hold(sandbox, 8);  // in step 8 of 20
  const pid_t exp = sandbox.start(launched({"run", "tiny.toml"}));
  ASSERT_EQ(hold.wait_for(1).size(), 1u) << sandbox.read("output.txt");
  ::kill(exp, SIGKILL);
  Sandbox::wait(exp);
  EXPECT_TRUE(contains(sandbox.exp({"status"}).output, "running"));
  EXPECT_EQ(sandbox.one("SELECT status FROM run_status"), "running") << "by its view too";
  const runner::ProgramOutput again = sandbox.exp(launched({"run", "tiny.toml"}));
  EXPECT_TRUE(contains(again.output, "tiny is running in a job on one; skipped")) << again.output;
  hold.release();
  EXPECT_TRUE(eventually([&] {
    sandbox.exp({"status"});
    return sandbox.one(states) == "1 completed";
  })) << sandbox.one(states);
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM attempt"), "1");
  EXPECT_EQ(sandbox.one(last_digests), local_digests({"run", "tiny.toml"}));
}

TEST(Launcher, AStepTimeoutEndsAWorkerWithItsExpOrWithout) {
  for (const bool alone : {false, true}) {
    Sandbox sandbox;
    sandbox.write("tiny.toml", tiny_experiment());
    sandbox.set("FAKE_STUBBORN", "1");
    Hold hold(sandbox, 8);
    const pid_t exp = sandbox.start(launched({"run", "tiny.toml", "--step-timeout", "3"}));
    ASSERT_EQ(hold.wait_for(1).size(), 1u) << sandbox.read("output.txt");
    if (alone) ::kill(exp, SIGKILL);
    const std::optional<runner::ProcessEnd> end = Sandbox::wait(exp);
    if (!alone) {
      EXPECT_TRUE(end && end->exit_code == 1) << sandbox.read("output.txt");
    }
    EXPECT_TRUE(eventually([&] {
      sandbox.exp({"status"});
      return sandbox.one(states) == "1 failed";
    })) << sandbox.one(states);
    EXPECT_EQ(sandbox.one("SELECT reason FROM run"),
              "no sign of its worker for 3 s (--step-timeout); it was killed");
    EXPECT_TRUE(sandbox.wait_until_no_workers());
  }
}

TEST(Launcher, StopReachesAWorkerWhoseExpIsGone) {
  Sandbox sandbox;
  sandbox.write("tiny.toml", tiny_experiment());
  Hold hold(sandbox, 8);
  const pid_t exp = sandbox.start(launched({"run", "tiny.toml"}));
  ASSERT_EQ(hold.wait_for(1).size(), 1u) << sandbox.read("output.txt");
  ::kill(exp, SIGKILL);
  Sandbox::wait(exp);
  const runner::ProgramOutput stop = sandbox.exp({"stop", "tiny"});
  EXPECT_TRUE(contains(stop.output, "was asked to stop; it writes a checkpoint first")) << stop.output;
  EXPECT_TRUE(eventually([&] {
    sandbox.exp({"ls"});
    return sandbox.one(states) == "1 stopped";
  })) << sandbox.one(states);
  EXPECT_EQ(sandbox.one("SELECT count(DISTINCT run) FROM checkpoint"), "1");
  hold.release();
  EXPECT_EQ(sandbox.exp(launched({"run", "tiny.toml"})).end.exit_code, 0);
  EXPECT_EQ(sandbox.one(last_digests), local_digests({"run", "tiny.toml"}));
}

TEST(Launcher, KillReachesAWorkerThatListensToNothingWithItsExpOrWithout) {
  for (const bool alone : {false, true}) {
    Sandbox sandbox;
    sandbox.write("tiny.toml", tiny_experiment());
    sandbox.set("FAKE_STUBBORN", "1");
    Hold hold(sandbox, 8);
    const pid_t exp = sandbox.start(launched({"run", "tiny.toml"}));
    ASSERT_EQ(hold.wait_for(1).size(), 1u) << sandbox.read("output.txt");
    if (alone) {
      ::kill(exp, SIGKILL);
      Sandbox::wait(exp);
    }
    const runner::ProgramOutput stop = sandbox.exp({"stop", "tiny", "--kill"});
    EXPECT_TRUE(contains(stop.output, "tiny: its worker is killed now")) << stop.output;
    EXPECT_TRUE(sandbox.wait_until_no_workers());
    if (!alone) {
      const std::optional<runner::ProcessEnd> end = Sandbox::wait(exp);
      ASSERT_TRUE(end);
      EXPECT_EQ(end->exit_code, 75) << sandbox.read("output.txt");
    }
    EXPECT_TRUE(eventually([&] {
      sandbox.exp({"ls"});
      return sandbox.one(states) == "1 stopped";
    })) << sandbox.one(states);
    hold.release();
    sandbox.set("FAKE_STUBBORN", "0");
    EXPECT_EQ(sandbox.exp(launched({"run", "tiny.toml"})).end.exit_code, 0);
    EXPECT_EQ(sandbox.one(last_digests), local_digests({"run", "tiny.toml"}));
  }
}

TEST(Launcher, AWorkerThatIsKilledIsLostWithItsSignal) {
  Sandbox sandbox;
  sandbox.write("tiny.toml", tiny_experiment());
  sandbox.set("FAKE_CRASH_AT", "7");
  sandbox.set("FAKE_CRASH_ATTEMPTS", "1");
  const runner::ProgramOutput output = sandbox.exp(launched({"run", "tiny.toml"}));
  EXPECT_EQ(output.end.exit_code, 75);
  EXPECT_TRUE(contains(output.errors, "the worker ended with signal 9")) << output.errors;
  EXPECT_EQ(sandbox.one(states), "1 lost");
  EXPECT_EQ(sandbox.exp(launched({"run", "tiny.toml"})).end.exit_code, 0);
}

TEST(Launcher, AHostWhereNothingStartsTakesNoMoreRunsAndTheOthersDoTheWork) {
  const Sandbox sandbox;
  write_sweep(sandbox);
  const runner::ProgramOutput output =
      sandbox.exp({"run", "sweep.toml", "--launcher",
                   "if [ {host} = dark ]; then echo no route to dark >&2; exit 255; fi; sh -c {command}",
                   "--hosts", "dark,light"});
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  EXPECT_TRUE(contains(output.errors,
                       "its worker could not be started on dark: the launch command ended with exit "
                       "code 255: no route to dark"))
      << output.errors;
  EXPECT_TRUE(contains(output.errors, "dark gets no more runs of this exp run")) << output.errors;
  EXPECT_EQ(sandbox.one(states), "6 completed");
}

TEST(Launcher, AFolderThatTheHostDoesNotShareIsNamed) {
  const Sandbox sandbox;
  sandbox.write("tiny.toml", tiny_experiment());
  // The command starts the worker with a folder that does not exist, as on a machine that does not share it.
  const runner::ProgramOutput output =
      sandbox.exp({"run", "tiny.toml", "--launcher",
                   "c={command}; sh -c \"$(echo \"$c\" | sed 's/encore.db.runs/gone/')\"", "-j", "1"});
  EXPECT_EQ(output.end.exit_code, 75) << output.output << output.errors;
  EXPECT_TRUE(contains(output.errors,
                       "the folder of the database must lie on a file system that this machine shares"))
      << output.errors;
  EXPECT_EQ(sandbox.one(states), "1 interrupted");
}

TEST(Launcher, RejectsInvalidCommandLines) {
  const Sandbox sandbox;
  sandbox.write("tiny.toml", tiny_experiment());
  const auto expect_refused = [&](std::vector<std::string> words, const std::string& message) {
    words.insert(words.begin(), {"run", "tiny.toml"});
    const runner::ProgramOutput output = sandbox.exp(words);
    EXPECT_EQ(output.end.exit_code, 2) << message;
    EXPECT_TRUE(contains(output.errors, message)) << output.errors;
  };
  expect_refused({"--hosts", "a"}, "--hosts needs --launcher");
  expect_refused({"--launcher", "ssh"}, "needs hosts: --hosts node1,node2");
  expect_refused({"--launcher", "shs", "--hosts", "a"}, "{command} is missing");
  expect_refused({"--launcher", "ssh", "--hosts", "-oProxyCommand=x"}, "is not the name of a host");
  expect_refused({"--launcher", "ssh", "--hosts", "a;b"}, "is not the name of a host");
  expect_refused({"--launcher", "ssh", "--hosts", "a,a"}, "a is given twice");
  expect_refused({"--launcher", "ssh", "--hosts", "a", "-j", "2"},
                 "-j 2 needs as many hosts, but --hosts has 1");
  const runner::ProgramOutput job = sandbox.exp({"job", "nowhere.order"});
  EXPECT_EQ(job.end.exit_code, 2);
  EXPECT_TRUE(contains(job.errors, "no order nowhere.order on ")) << job.errors;
}

TEST(Doctor, NamesARemedyForEachProblem) {
  const Sandbox sandbox;
  const runner::ProgramOutput output = sandbox.exp({"doctor", "--json"});
  const nlohmann::json findings = nlohmann::json::parse(output.output);
  std::map<std::string, nlohmann::json> by_name;
  for (const nlohmann::json& finding : findings) by_name[finding.at("what")] = finding;
  for (const char* what : {"worker", "plugins", "GPU", "C++ compiler", "CMake", "MPI", "Slurm",
                           "database's folder", "open files", "memory", "synchronised"}) {
    ASSERT_TRUE(by_name.contains(what)) << what << output.output;
    EXPECT_TRUE(by_name[what]["state"] == "ok" || by_name[what]["advice"] != "") << what;
  }
  EXPECT_TRUE(by_name.contains("matrix tiles")) << output.output;
  // The scripted worker always reports that it has no MPI, so this finding is the same on all machines.
  EXPECT_EQ(by_name["MPI"]["state"], "absent") << output.output;
  EXPECT_TRUE(contains(by_name["MPI"]["found"], "the worker was built without MPI")) << output.output;
  EXPECT_TRUE(contains(by_name["MPI"]["advice"], "./exp build --mpi")) << output.output;
  Sandbox lame;
  lame.set("ENCORE_WORKER", "/nowhere/worker");
  const runner::ProgramOutput missing = lame.exp({"doctor"});
  EXPECT_EQ(missing.end.exit_code, 1) << missing.output << missing.errors;
  EXPECT_TRUE(contains(missing.output, "problem")) << missing.output;
}

}  // namespace
}  // namespace encore::system_test
