// SPDX-License-Identifier: BSD-3-Clause
// Tests ranks (processes that train one run together; train/ranks.hpp) that die, stop, get sums in another
// order or a wrong bit, or load another MPI: the run must continue to the bits of one process, or end with
// the reason. faulty_mpi.cpp injects the faults of MPI. ranks_test.cpp has the tests without faults.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "system/control/ranks.hpp"

namespace encore::system_test {
namespace {

class RankFaults : public Ranks {
 protected:
  /// Writes an experiment with development scores and checkpoints within epochs, so that kills hit them too.
  void SetUp() override {
    Ranks::SetUp();
    if (IsSkipped()) return;
    sandbox_.write("tiny.toml",
                   tiny_experiment() +
                       "gradient_shards = 4\ncheckpoint_every = 2\nevaluate_every = 3\ndigest_steps = 5\n");
  }
  /// Makes the ranks load faulty_mpi.cpp.
  static std::string with_fault(const std::string& fault) {
    const std::string root = ::geteuid() == 0 ? " --allow-run-as-root" : "";
    return "mpirun -n {ranks} --quiet --bind-to none --oversubscribe" + root + " -x FAULTY_MPI=" + fault +
           " -x LD_PRELOAD=" FAULTY_MPI;
  }
  int newest_checkpoint() const {
    if (!std::filesystem::exists(sandbox_.folder() / "encore.db") ||
        sandbox_.one("SELECT count(*) FROM sqlite_schema WHERE name = 'checkpoint'") != "1")
      return 0;
    return std::stoi(sandbox_.one("SELECT ifnull(max(step), 0) FROM checkpoint"));
  }
  /// Returns the processes of the run with mpirun when all have started; empty if the run ended before.
  std::vector<pid_t> all_of(std::size_t ranks, pid_t running) const {
    std::vector<pid_t> found;
    eventually([&] { return (found = sandbox_.workers()).size() > ranks || has_ended(running); });
    return found.size() > ranks ? found : std::vector<pid_t>();
  }
  /// Whether a signal has stopped the process.
  static bool is_held(pid_t process) {
    std::ifstream in("/proc/" + std::to_string(process) + "/stat");
    std::string stat;
    std::getline(in, stat);
    const std::size_t name_end = stat.rfind(')');
    return name_end + 2 < stat.size() && stat[name_end + 2] == 'T';
  }
  void expect_equal_bits_after_kills(int kills, unsigned seed);
};

/// One training that is killed again and again, with other ranks and threads each time. A rank drawn at
/// random stops within a step drawn at random, and then one of the processes is killed, so that no kill
/// depends on the speed of a step. Every fourth kill comes before the first step of its attempt.
void RankFaults::expect_equal_bits_after_kills(int kills, unsigned seed) {
  const std::string epochs = "train.epochs=" + std::to_string(6 * kills);
  const std::vector<std::string> unbroken = bits_of({"-S", epochs, "-t", "1"});
  const int last_step = 5 * 6 * kills;
  std::mt19937 random(seed);
  const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  for (int kill = 0; kill < kills; ++kill) {
    const int ranks = kill % 2 == 0 ? 2 : 4;
    const int steps = kill % 4 == 1 ? 0 : draw(last_step / (kills + 1));
    const std::string hold =
        "hold:" + std::to_string(draw(ranks)) + ":" + std::to_string(steps) + ":" + std::to_string(draw(4));
    const pid_t running = sandbox_.start({"run", "tiny.toml", "-S", epochs, "--ranks", std::to_string(ranks),
                                          "--mpirun", with_fault(hold), "-t", std::to_string(1 + draw(2))});
    const std::vector<pid_t> workers = all_of(static_cast<std::size_t>(ranks), running);
    ASSERT_FALSE(workers.empty()) << "kill " << kill;
    ASSERT_TRUE(sandbox_.wait_until([&] { return std::ranges::any_of(workers, is_held); })) << hold;
    const pid_t shot = workers[static_cast<std::size_t>(draw(static_cast<int>(workers.size())))];
    ::kill(shot, SIGKILL);
    ASSERT_TRUE(Sandbox::wait(running));
    ASSERT_TRUE(sandbox_.wait_until_no_workers());
    ASSERT_NE(sandbox_.one("SELECT state FROM run"), "completed") << "kill " << kill;
    std::cout << "kill " << kill << " of " << ranks << " ranks, " << hold << ", at checkpoint "
              << newest_checkpoint() << ": "
              << sandbox_.one("SELECT reason FROM attempt ORDER BY number DESC LIMIT 1") << '\n';
  }
  EXPECT_EQ(difference(bits_of({"-S", epochs, "-t", "2"}), unbroken), "");
}

TEST_F(RankFaults, KillsLeaveTheBitsOfOneProcess) {
  expect_equal_bits_after_kills(3, 1);
}
// --gtest_also_run_disabled_tests --gtest_filter=*TwentyKillsOfRanks*: about two minutes.
TEST_F(RankFaults, DISABLED_TwentyKillsOfRanksLeaveTheBitsOfOneProcess) {
  expect_equal_bits_after_kills(20, 2);
}

TEST_F(RankFaults, AnotherOrderOfAddingHasOtherBits) {
  // In double precision another order changes far less than any error: only the last bits may differ.
  const auto run_with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> options = {"-S", "train.precision=float64", "--ranks", "4"};
    options.insert(options.end(), more.begin(), more.end());
    train(options);
    const std::string digest = sandbox_.one(
        "SELECT value FROM digest WHERE step = 5 AND scope IN (SELECT min(scope) FROM digest WHERE step = "
        "5)");
    const double loss = std::stod(sandbox_.one(
        "SELECT printf('%.17g', value) FROM point JOIN metric ON metric = metric.number WHERE name = "
        "'train/loss' ORDER BY step DESC LIMIT 1"));
    forget();
    return std::pair(digest, loss);
  };
  const auto [digest, loss] = run_with({});
  const auto [other_digest, other_loss] = run_with({"--mpirun", with_fault("order")});
  EXPECT_NE(other_digest, digest) << "bits that do not depend on the order would prove nothing";
  EXPECT_NEAR(other_loss, loss, 1e-7 * loss) << "more than the order was changed";
  EXPECT_EQ(run_with({"--mpirun", with_fault("none")}).first, digest);
}

TEST_F(RankFaults, AWrongBitEndsAllAndNamesRankAndTensor) {
  const runner::ProgramOutput output =
      sandbox_.exp({"run", "tiny.toml", "--ranks", "2", "--mpirun", with_fault("bit")});
  EXPECT_EQ(output.end.exit_code, 1) << output.output;
  const std::string reason = sandbox_.one("SELECT reason FROM attempt");
  EXPECT_TRUE(contains(reason, "after step 3 the parameters of rank 1")) << reason;
  EXPECT_TRUE(contains(reason, "have other bits than those of rank 0")) << reason;
  EXPECT_TRUE(contains(reason, ", first in ")) << reason;
  EXPECT_TRUE(sandbox_.wait_until_no_workers());
}

TEST_F(RankFaults, AnotherMpiThanTheOneOfTheBuildIsNamed) {
  const runner::ProgramOutput output =
      sandbox_.exp({"run", "tiny.toml", "--ranks", "2", "--mpirun", with_fault("version")});
  EXPECT_NE(output.end.exit_code, 0);
  EXPECT_TRUE(contains(output.output + output.errors, "x and runs with Open MPI 99.1.0; load the MPI that"))
      << output.output << output.errors;
  EXPECT_TRUE(sandbox_.wait_until_no_workers());
}

TEST_F(RankFaults, ReportsAMissingMpiBeforeAnythingStarts) {
  sandbox_.write("worker.sh",
                 "#!/bin/sh\necho 'encore-worker: error while loading shared libraries: libmpi.so.40: cannot "
                 "open shared object file: No such file or directory' >&2\nexit 127\n");
  std::filesystem::permissions(sandbox_.folder() / "worker.sh", std::filesystem::perms::owner_all);
  sandbox_.set("ENCORE_WORKER", (sandbox_.folder() / "worker.sh").string());
  const runner::ProgramOutput output = sandbox_.exp({"run", "tiny.toml", "--ranks", "2"});
  EXPECT_NE(output.end.exit_code, 0);
  EXPECT_TRUE(contains(output.errors, "libmpi.so.40: cannot open shared object file")) << output.errors;
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "encore.db.runs"));
}

TEST_F(RankFaults, ASlowRankChangesNoBit) {
  const std::vector<std::string> unbroken = bits_of({});
  EXPECT_EQ(difference(bits_of({"--ranks", "2", "--mpirun", with_fault("slow")}), unbroken), "");
}

TEST_F(RankFaults, ARankThatStandsStillIsEndedByTheTimeLimitAndByStop) {
  const std::vector<std::string> endless = {"run", "tiny.toml", "-S", "train.epochs=100000", "--ranks", "2"};
  for (const bool by_limit : {true, false}) {
    std::vector<std::string> command = endless;
    if (by_limit) command.insert(command.end(), {"--step-timeout", "5"});
    const int before = newest_checkpoint();
    const pid_t running = sandbox_.start(command);
    ASSERT_TRUE(sandbox_.wait_until([&] { return newest_checkpoint() > before; }));
    const std::vector<pid_t> workers = all_of(2, running);
    ASSERT_FALSE(workers.empty());
    ::kill(workers.back(), SIGSTOP);
    if (!by_limit) output_of({"stop", "tiny", "--kill"});
    ASSERT_TRUE(Sandbox::wait(running));
    const std::string reason = sandbox_.one("SELECT reason FROM attempt ORDER BY number DESC LIMIT 1");
    EXPECT_TRUE(contains(reason, by_limit ? "no sign of its worker for 5 s" : "exp stop --kill")) << reason;
    EXPECT_TRUE(sandbox_.wait_until_no_workers()) << "a rank was left behind";
  }
}

}  // namespace
}  // namespace encore::system_test
