// Ranks that die, stand still, get sums in another order or a wrong bit, or load another MPI: the run goes on
// to the bits of one process, or ends with the reason. What is wrong with MPI is done by faulty_mpi.cpp.
#include <signal.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "record/spool.hpp"
#include "system/control/ranks.hpp"

namespace encore::system_test {
namespace {

class RankFaults : public Ranks {
 protected:
  /// With development scores and checkpoints within epochs, so that kills fall into them too.
  void SetUp() override {
    Ranks::SetUp();
    if (IsSkipped()) return;
    sandbox_.write("tiny.toml",
                   tiny_experiment() +
                       "gradient_shards = 4\ncheckpoint_every = 2\nevaluate_every = 3\ndigest_steps = 5\n");
  }
  /// Ranks that load faulty_mpi.cpp.
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
  /// Whether the ranks of an attempt know each other, which is before they load anything.
  bool has_begun(int attempt) const {
    for (const auto& run : std::filesystem::directory_iterator(sandbox_.folder() / "encore.db.runs"))
      if (std::filesystem::exists(run.path() / spool_name(attempt))) return true;
    return false;
  }
  /// The processes of the run, mpirun among them, when all are there; empty when it has ended before.
  std::vector<pid_t> all_of(std::size_t ranks, pid_t running) const {
    std::vector<pid_t> found;
    eventually([&] { return (found = sandbox_.workers()).size() > ranks || has_ended(running); });
    return found.size() > ranks ? found : std::vector<pid_t>();
  }
  void expect_equal_bits_after_kills(int kills, unsigned seed);
};

/// One training, killed again and again as it goes on: each attempt has other ranks and threads. Every fourth
/// kill comes while ranks plan or load, the others a random while after a step; the training always comes
/// further, so that they spread over all of it.
void RankFaults::expect_equal_bits_after_kills(int kills, unsigned seed) {
  const std::string epochs = "train.epochs=" + std::to_string(6 * kills);
  const std::vector<std::string> unbroken = bits_of({"-S", epochs, "-t", "1"});
  const int last_step = 5 * 6 * kills;
  std::mt19937 random(seed);
  const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  const int counts[] = {2, 4, 1};
  for (int kill = 0; kill < kills; ++kill) {
    const int ranks = counts[kill % 3];
    const pid_t running = sandbox_.start({"run", "tiny.toml", "-S", epochs, "--ranks", std::to_string(ranks),
                                          "-t", std::to_string(1 + draw(2))});
    const std::vector<pid_t> workers = all_of(ranks == 1 ? 0 : static_cast<std::size_t>(ranks), running);
    ASSERT_FALSE(workers.empty()) << "kill " << kill;
    // Open MPI's mpirun may wait for ever for a rank that was shot while it joined (docs/ranks.md).
    ASSERT_TRUE(sandbox_.wait_until([&] { return has_begun(kill + 1); }));
    const int step = kill % 4 == 0 ? 0 : last_step * kill / (kills + 1);
    ASSERT_TRUE(sandbox_.wait_until([&] { return newest_checkpoint() >= step; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(draw(kill % 4 == 0 ? 600 : 40)));
    ::kill(workers[static_cast<std::size_t>(draw(static_cast<int>(workers.size())))], SIGKILL);
    ASSERT_TRUE(Sandbox::wait(running));
    ASSERT_TRUE(sandbox_.wait_until_no_workers());
    ASSERT_NE(sandbox_.one("SELECT state FROM run"), "completed") << "kill " << kill << " came too late";
    std::cout << "kill " << kill << " of " << ranks << " ranks at checkpoint " << newest_checkpoint() << ": "
              << sandbox_.one("SELECT reason FROM attempt ORDER BY number DESC LIMIT 1") << '\n';
  }
  EXPECT_EQ(difference(bits_of({"-S", epochs, "--ranks", "4", "-t", "1"}), unbroken), "");
}

TEST_F(RankFaults, KillsLeaveTheBitsOfOneProcess) {
  expect_equal_bits_after_kills(3, 1);
}
// --gtest_also_run_disabled_tests --gtest_filter=*TwentyKillsOfRanks*: about two minutes.
TEST_F(RankFaults, DISABLED_TwentyKillsOfRanksLeaveTheBitsOfOneProcess) {
  expect_equal_bits_after_kills(20, 2);
}

TEST_F(RankFaults, AnotherOrderOfAddingHasOtherBits) {
  // In double precision another order is far below any error: nothing but the last bits may differ.
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
  const ProgramOutput output =
      sandbox_.exp({"run", "tiny.toml", "--ranks", "2", "--mpirun", with_fault("bit")});
  EXPECT_EQ(output.end.exit_code, 1) << output.output;
  const std::string reason = sandbox_.one("SELECT reason FROM attempt");
  EXPECT_TRUE(contains(reason, "after step 3 the parameters of rank 1")) << reason;
  EXPECT_TRUE(contains(reason, "have other bits than those of rank 0")) << reason;
  EXPECT_TRUE(contains(reason, ", first in ")) << reason;
  EXPECT_TRUE(sandbox_.wait_until_no_workers());
}

TEST_F(RankFaults, AnotherMpiThanTheOneOfTheBuildIsNamed) {
  const ProgramOutput output =
      sandbox_.exp({"run", "tiny.toml", "--ranks", "2", "--mpirun", with_fault("version")});
  EXPECT_NE(output.end.exit_code, 0);
  EXPECT_TRUE(contains(output.output + output.errors, "x and runs with Open MPI 99.1.0; load the MPI that"))
      << output.output << output.errors;
  EXPECT_TRUE(sandbox_.wait_until_no_workers());
}

TEST_F(RankFaults, AnMpiThatIsNotThereIsSaidBeforeAnythingStarts) {
  sandbox_.write("worker.sh",
                 "#!/bin/sh\necho 'encore-worker: error while loading shared libraries: libmpi.so.40: cannot "
                 "open shared object file: No such file or directory' >&2\nexit 127\n");
  std::filesystem::permissions(sandbox_.folder() / "worker.sh", std::filesystem::perms::owner_all);
  sandbox_.set("ENCORE_WORKER", (sandbox_.folder() / "worker.sh").string());
  const ProgramOutput output = sandbox_.exp({"run", "tiny.toml", "--ranks", "2"});
  EXPECT_NE(output.end.exit_code, 0);
  EXPECT_TRUE(contains(output.errors, "libmpi.so.40: cannot open shared object file")) << output.errors;
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "encore.db.runs"));
}

TEST_F(RankFaults, ASlowRankChangesNoBit) {
  const std::vector<std::string> options = {"-S", "train.epochs=12"};
  const std::vector<std::string> unbroken = bits_of(options);
  const pid_t running = sandbox_.start({"run", "tiny.toml", "-S", "train.epochs=12", "--ranks", "2"});
  int pauses = 0;
  const std::vector<pid_t> workers = all_of(2, running);
  ASSERT_FALSE(workers.empty());
  while (!has_ended(running)) {
    // The last one is a rank: processes are listed by number, and mpirun is the first.
    ::kill(workers.back(), SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    ::kill(workers.back(), SIGCONT);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    ++pauses;
  }
  ASSERT_TRUE(Sandbox::wait(running));
  EXPECT_GT(pauses, 5);
  EXPECT_EQ(sandbox_.one("SELECT state FROM run"), "completed");
  EXPECT_EQ(difference(bits_of(options), unbroken), "");
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
