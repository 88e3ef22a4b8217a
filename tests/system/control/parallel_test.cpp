// SPDX-License-Identifier: BSD-3-Clause
// Tests one `exp run --jobs` with several workers (runner/runner.hpp, runner/places.hpp), and several `exp
// run` of one sweep, which share it by leases. Nothing may be trained twice, and a failure may cost only its
// own run. A worker that the FAKE_ variables control takes the place of training. Printed words may change.
#include <gtest/gtest.h>
#include <signal.h>

#include <set>

#include <nlohmann/json.hpp>

#include "system/control/hold.hpp"
#include "world/cores.hpp"

namespace encore::system_test {
namespace {

/// Writes a sweep of twelve runs, s-dropout=0.1-s1 to s-dropout=0.3-s4.
void write_sweep(const Sandbox& sandbox) {
  std::string text = tiny_experiment("s");
  text.replace(text.find("seed = 1"), 8, "seeds = [1, 2, 3, 4]");
  sandbox.write("sweep.toml", text + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2, 0.3]\n");
}

std::string count(const Sandbox& sandbox, const std::string& state) {
  return sandbox.one("SELECT count(*) FROM run WHERE state = '" + state + "'");
}

constexpr const char* digests_by_run =
    "SELECT group_concat(name || ' ' || step || ' ' || value, ', ') FROM (SELECT run.name, step, value FROM "
    "current_digest JOIN run ON run.number = current_digest.run ORDER BY run.name, step)";
/// A query that returns 1 if any two attempts ran at the same time, else 0, by their own records.
constexpr const char* overlaps =
    "SELECT count(*) > 0 FROM attempt a JOIN attempt b ON a.number < b.number AND b.started < a.finished";

TEST(Parallel, ThreeWorkersDoTwelveRunsWithTheDigestsOfOne) {
  Sandbox three, one;
  write_sweep(three);
  write_sweep(one);
  Hold hold(three, 8);
  const pid_t exp = three.start({"run", "sweep.toml", "-j", "3"});
  ASSERT_EQ(hold.wait_for(3).size(), 3u) << three.read("output.txt");
  hold.release();
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  const std::string output = three.read("output.txt");
  ASSERT_EQ(end->exit_code, 0) << output;
  ASSERT_EQ(one.exp({"run", "sweep.toml"}).end.exit_code, 0);
  EXPECT_EQ(count(three, "completed"), "12");
  EXPECT_EQ(three.one("SELECT count(*) FROM attempt"), "12");
  EXPECT_EQ(three.one(digests_by_run), one.one(digests_by_run));
  EXPECT_EQ(three.one(overlaps), "1") << "at the same time";
  EXPECT_EQ(one.one(overlaps), "0");
  EXPECT_TRUE(contains(output, "3 workers at once, 1 thread each")) << output;
  EXPECT_TRUE(contains(output, "12/12 s-dropout=0.3-s4  step 20  epoch 4")) << output;
  EXPECT_EQ(output.find('\r'), std::string::npos) << "no live line without a terminal";
}

TEST(Parallel, EachWorkerHasCoresAndThreadsOfItsOwn) {
  const world::Cores cores = world::usable_cores();
  if (cores.by_core().size() < 2) GTEST_SKIP() << "this test needs two cores";
  if (cores.granted > 0)
    GTEST_SKIP() << "a control group limits time here, so no worker gets cores of its own";
  Sandbox sandbox;
  write_sweep(sandbox);
  sandbox.write("pair.toml", "base = \"sweep.toml\"\nseeds = [1, 2]\nname = \"pair\"\n[sweep]\n");
  Hold hold(sandbox, 8);
  const pid_t exp = sandbox.start({"run", "pair.toml", "-j", "2"});
  ASSERT_EQ(hold.wait_for(2).size(), 2u) << sandbox.read("output.txt");
  hold.release();
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  ASSERT_EQ(end->exit_code, 0) << sandbox.read("output.txt");
  std::set<int> seen;
  for (const std::string& text : sandbox.query("SELECT started_event ->> 'place' FROM attempt")) {
    const nlohmann::json place = nlohmann::json::parse(text);
    EXPECT_EQ(place.at("threads"), 1) << "OMP_NUM_THREADS=1 limits it";
    EXPECT_EQ(place.at("omp_threads"), 1);
    EXPECT_FALSE(place.at("cores").empty()) << text;
    for (int core : place.at("cores")) EXPECT_TRUE(seen.insert(core).second) << "core " << core << " twice";
  }
  EXPECT_LE(seen.size(), cores.numbers.size());
  ASSERT_EQ(sandbox.exp({"run", "pair.toml", "-j", "2", "--threads", "64", "--fresh"}).end.exit_code, 0);
  EXPECT_EQ(sandbox.one("SELECT started_event -> 'place' ->> 'threads' FROM attempt ORDER BY number DESC"),
            "64")
      << "--threads wins";
}

TEST(Parallel, ACrashCostsOnlyItsOwnRunAndAFailureToo) {
  Sandbox sandbox;
  write_sweep(sandbox);
  sandbox.set("FAKE_CRASH_AT", "7");
  sandbox.set("FAKE_SIGNAL", "11");
  sandbox.set("FAKE_CRASH_ONLY", "0.2-s2");
  const runner::ProgramOutput crash = sandbox.exp({"run", "sweep.toml", "-j", "3"});
  EXPECT_EQ(crash.end.exit_code, 75) << "lost, can be resumed";
  EXPECT_EQ(count(sandbox, "completed"), "11");
  EXPECT_EQ(sandbox.one("SELECT name FROM run WHERE state = 'lost'"), "s-dropout=0.2-s2");
  EXPECT_TRUE(contains(crash.errors, "s-dropout=0.2-s2 was cut off") &&
              contains(crash.errors, "signal 11 (Segmentation fault)"))
      << crash.errors;

  Sandbox other;
  write_sweep(other);
  other.set("FAKE_FAIL_AT", "7");
  other.set("FAKE_FAIL_ONLY", "0.1-s1");
  const runner::ProgramOutput failure = other.exp({"run", "sweep.toml", "-j", "3"});
  EXPECT_EQ(failure.end.exit_code, 1);
  EXPECT_EQ(count(other, "completed"), "11");
  EXPECT_EQ(count(other, "failed"), "1");
  EXPECT_TRUE(contains(failure.errors, "s-dropout=0.1-s1 failed: step 7: the loss is not finite"))
      << failure.errors;
}

TEST(Parallel, RetriesAreForCrashesAndNotForFailures) {
  Sandbox sandbox;
  write_sweep(sandbox);
  sandbox.set("FAKE_CRASH_AT", "7");
  sandbox.set("FAKE_CRASH_ATTEMPTS", "2");
  sandbox.set("FAKE_CRASH_ONLY", "0.2-s2");
  sandbox.set("FAKE_FAIL_AT", "7");
  sandbox.set("FAKE_FAIL_ONLY", "0.1-s1");
  const runner::ProgramOutput output = sandbox.exp({"run", "sweep.toml", "-j", "3", "--retries", "2"});
  EXPECT_EQ(output.end.exit_code, 1) << output.errors;
  EXPECT_EQ(count(sandbox, "completed"), "11");
  const auto attempts = [&](const std::string& name) {
    return sandbox.one("SELECT count(*) FROM attempt JOIN run ON run.number = attempt.run WHERE name = '" +
                       name + "'");
  };
  EXPECT_EQ(attempts("s-dropout=0.2-s2"), "3");
  EXPECT_EQ(attempts("s-dropout=0.1-s1"), "1");
  EXPECT_TRUE(contains(output.errors, "retrying: it resumes from its checkpoint of step ")) << output.errors;

  Sandbox few;
  few.set("FAKE_CRASH_AT", "7");
  few.set("FAKE_CRASH_ATTEMPTS", "2");
  EXPECT_EQ(few.exp({"run", "tiny.toml", "--retries", "1"}).end.exit_code, 75);
  EXPECT_EQ(few.one("SELECT count(*) || state FROM attempt"), "2lost");
}

TEST(Parallel, FailFastStartsNoMoreAndHasTheOthersCheckpoint) {
  Sandbox sandbox;
  write_sweep(sandbox);
  sandbox.set("FAKE_FAIL_AT", "7");
  sandbox.set("FAKE_FAIL_ONLY", "0.1-s1");
  const Hold others(sandbox, 8);
  const runner::ProgramOutput output = sandbox.exp({"run", "sweep.toml", "-j", "3", "--fail-fast"});
  EXPECT_EQ(output.end.exit_code, 1);
  EXPECT_EQ(count(sandbox, "failed") + count(sandbox, "interrupted") + count(sandbox, "pending"), "129")
      << output.output << output.errors;
  EXPECT_EQ(sandbox.one("SELECT DISTINCT reason FROM run WHERE state = 'interrupted'"),
            "asked to stop because another run failed (--fail-fast)");
  EXPECT_TRUE(contains(output.output, "9 more runs were not started")) << output.output;
  EXPECT_TRUE(contains(output.errors, "--fail-fast was given: all 2 workers write a checkpoint first"))
      << output.errors;
}

TEST(Parallel, CtrlCAsksAllWorkersAndTheSameCommandResumes) {
  Sandbox sandbox;
  write_sweep(sandbox);
  Hold hold(sandbox, 8);
  const pid_t exp = sandbox.start({"run", "sweep.toml", "-j", "3"});
  ASSERT_EQ(hold.wait_for(3).size(), 3u) << sandbox.read("output.txt");
  ::kill(exp, SIGINT);
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 75) << sandbox.read("output.txt");
  EXPECT_EQ(count(sandbox, "interrupted"), "3") << sandbox.read("output.txt");
  EXPECT_EQ(sandbox.one("SELECT count(DISTINCT run) FROM checkpoint"), "3");
  EXPECT_TRUE(sandbox.workers().empty());
  EXPECT_TRUE(contains(sandbox.read("output.txt"),
                       "stopping: all 3 workers write a checkpoint first (ask again to kill them)"))
      << sandbox.read("output.txt");
  hold.release();
  ASSERT_EQ(sandbox.exp({"run", "sweep.toml", "-j", "3"}).end.exit_code, 0);
  const Sandbox calm;
  write_sweep(calm);
  ASSERT_EQ(calm.exp({"run", "sweep.toml"}).end.exit_code, 0);
  EXPECT_EQ(sandbox.one(digests_by_run), calm.one(digests_by_run));
}

TEST(Parallel, ThreeProcessesShareASweepAndTrainNothingTwice) {
  Sandbox sandbox;
  write_sweep(sandbox);
  Hold hold(sandbox, 8);
  std::vector<pid_t> processes;
  for (const char* output : {"a.txt", "b.txt", "c.txt"})
    processes.push_back(sandbox.start({"run", "sweep.toml", "-j", "2"}, output));
  ASSERT_EQ(hold.wait_for(6).size(), 6u) << "they do not share the work";
  hold.release();
  for (pid_t process : processes) {
    const auto end = Sandbox::wait(process);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit_code, 0) << sandbox.read("a.txt") << sandbox.read("b.txt") << sandbox.read("c.txt");
  }
  EXPECT_EQ(count(sandbox, "completed"), "12");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM run"), "12");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM attempt"), "12") << "each specification once";
  EXPECT_EQ(sandbox.one("SELECT count(DISTINCT pid) FROM attempt"), "3");
  EXPECT_EQ(sandbox.one("SELECT count(*) || ' ' || count(DISTINCT id || step) FROM curve WHERE metric = "
                        "'train/loss'"),
            "240 240");
  const Sandbox calm;
  write_sweep(calm);
  ASSERT_EQ(calm.exp({"run", "sweep.toml"}).end.exit_code, 0);
  EXPECT_EQ(sandbox.one(digests_by_run), calm.one(digests_by_run));
}

TEST(Parallel, WhatOneOfSeveralProcessesSawFailTheOthersDoNotRepeat) {
  Sandbox sandbox;
  write_sweep(sandbox);
  sandbox.set("FAKE_FAIL_AT", "3");
  Hold hold(sandbox, 3);  // all have planned before the first one fails
  std::vector<pid_t> processes;
  for (const char* output : {"a.txt", "b.txt", "c.txt"})
    processes.push_back(sandbox.start({"run", "sweep.toml"}, output));
  ASSERT_EQ(hold.wait_for(3).size(), 3u);
  hold.release();
  for (pid_t process : processes) ASSERT_TRUE(Sandbox::wait(process));
  EXPECT_EQ(count(sandbox, "failed"), "12");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM attempt"), "12");
}

TEST(Parallel, AKilledProcessLeavesItsRunsToTheOthers) {
  Sandbox sandbox;
  write_sweep(sandbox);
  Hold hold(sandbox, 8);
  const pid_t first = sandbox.start({"run", "sweep.toml", "-j", "3"}, "a.txt");
  ASSERT_EQ(hold.wait_for(3).size(), 3u) << sandbox.read("a.txt");
  const pid_t second = sandbox.start({"run", "sweep.toml", "--retries", "1"}, "b.txt");
  ASSERT_EQ(hold.wait_for(4).size(), 4u) << sandbox.read("b.txt");
  ::kill(first, SIGKILL);
  ASSERT_TRUE(Sandbox::wait(first));
  ASSERT_TRUE(eventually([&] { return sandbox.workers().size() == 1; })) << "the others end by themselves";
  hold.release();
  ASSERT_TRUE(Sandbox::wait(second));
  const int more = sandbox.exp({"run", "sweep.toml"}).end.exit_code;
  EXPECT_EQ(more, 0) << sandbox.read("b.txt");
  EXPECT_EQ(count(sandbox, "completed"), "12") << sandbox.read("b.txt");
  EXPECT_EQ(sandbox.one("SELECT count(*) || ' ' || count(DISTINCT id || step) FROM curve WHERE metric = "
                        "'train/loss'"),
            "240 240");
}

struct Refusal {
  std::vector<std::string> options;
  std::string message;
};

TEST(Parallel, WrongOptionsAreRefusedBeforeAnythingStarts) {
  const std::vector<Refusal> refusals = {
      {{"-j", "0"}, "invalid -j 0: expected at least 1"},
      {{"-j", "many"}, "'many'"},
      {{"--retries", "-1"}, "invalid --retries -1"},
      {{"--keep-going", "--fail-fast"}, "--keep-going and --fail-fast exclude each other"},
      {{"--devices", "0,1"}, "--devices selects GPUs, but backend openmp computes on the cores"},
      {{"--retires", "2"}, "did you mean \"--retries\"?"},
  };
  for (const Refusal& refusal : refusals) {
    const Sandbox sandbox;
    std::vector<std::string> arguments = {"run", "tiny.toml"};
    arguments.insert(arguments.end(), refusal.options.begin(), refusal.options.end());
    const runner::ProgramOutput output = sandbox.exp(arguments);
    EXPECT_EQ(output.end.exit_code, 2) << refusal.message;
    EXPECT_TRUE(contains(output.errors, refusal.message)) << output.errors;
    EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db")) << refusal.message;
  }
}

}  // namespace
}  // namespace encore::system_test
