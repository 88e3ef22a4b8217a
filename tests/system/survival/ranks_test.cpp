// Ranks: whatever their number, whoever of them is killed, a run ends with the bits of one process.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "support/places.hpp"
#include "system/control/sandbox.hpp"
#include "system/survival/unbroken.hpp"

namespace encore::system_test {
namespace {

using Words = std::vector<std::string>;

class RanksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!real_worker_runs()) GTEST_SKIP() << "this worker does not run here";
    if (!Sandbox::has("mpirun")) GTEST_SKIP() << "no mpirun: Debian's package is openmpi-bin";
    const ProgramOutput version = run_program(ENCORE_BUILD_DIR "/bin/encore-worker", {"version"});
    if (version.output.find("\"mpi\":\"\"") != std::string::npos)
      GTEST_SKIP() << "this worker was built without MPI (libopenmpi-dev)";
  }

  static Words command(const Words& settings, int ranks, int threads) {
    Words words = {"run", "tiny.toml", "--ranks", std::to_string(ranks), "-t", std::to_string(threads)};
    for (const std::string& setting : settings) words.insert(words.end(), {"-S", setting});
    return words;
  }
  static Sandbox& with_file(Sandbox& sandbox) {
    sandbox.write("tiny.toml", tiny_experiment());
    return sandbox;
  }
  /// Everything that a run leaves behind, by so many ranks.
  static std::vector<std::string> trained(const Words& settings, int ranks, int threads) {
    Sandbox sandbox(true);
    const ProgramOutput output = with_file(sandbox).exp(command(settings, ranks, threads));
    EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
    return told(sandbox);
  }
  static std::string refusal(const Words& words) {
    Sandbox sandbox(true);
    const ProgramOutput output = with_file(sandbox).exp(words);
    EXPECT_EQ(output.end.exit_code, 2) << output.output;
    EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db"));
    return output.errors;
  }
};

struct Kind {
  std::string name;
  Words settings;
};

const std::vector<Kind> kinds = {
    {"float32", {"train.gradient_shards=4"}},
    {"bfloat16", {"train.gradient_shards=4", "train.precision=\"bfloat16\"", "train.clip_norm=0.1"}},
    {"float64", {"train.gradient_shards=4", "train.precision=\"float64\""}},
    {"lamb", {"train.gradient_shards=4", "optimizer.type=\"lamb\""}},
    {"lora", {"train.gradient_shards=4", "train.lora=[\"qkv.weight\"]", "train.lora_rank=2"}},
};

TEST_F(RanksTest, any_number_of_ranks_and_threads_has_the_bits_of_one_process) {
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.name);
    const std::vector<std::string> alone = trained(kind.settings, 1, 1);
    EXPECT_GT(alone.size(), 20u);
    EXPECT_EQ(trained(kind.settings, 2, 2), alone);
    EXPECT_EQ(trained(kind.settings, 4, 1), alone);
  }
}

TEST_F(RanksTest, another_order_of_adding_shows) {
  EXPECT_NE(trained({"train.gradient_shards=2"}, 2, 1), trained({"train.gradient_shards=4"}, 2, 1));
}

TEST_F(RanksTest, a_rank_that_is_killed_ends_all_and_others_go_on) {
  const Words settings = {"train.gradient_shards=4", "train.checkpoint_every=2", "train.epochs=30"};
  const std::vector<std::string> unbroken = trained(settings, 1, 1);
  Sandbox sandbox(true);
  with_file(sandbox);
  int ranks = 2;
  for (const int moment : {150, 400, 700}) {
    const pid_t exp = sandbox.start(command(settings, ranks, 1));
    sandbox.wait_until([&] { return std::ssize(sandbox.workers()) > ranks; });  // mpirun is among them
    std::this_thread::sleep_for(std::chrono::milliseconds(moment));
    const std::vector<pid_t> workers = sandbox.workers();
    if (!workers.empty()) ::kill(workers[static_cast<std::size_t>(moment) % workers.size()], SIGKILL);
    ASSERT_TRUE(Sandbox::wait(exp));
    EXPECT_TRUE(sandbox.wait_until_no_workers());
    ranks = 6 - ranks;
  }
  const ProgramOutput output = sandbox.exp(command(settings, 1, 2));
  EXPECT_EQ(output.end.exit_code, 0) << output.errors;
  expect_same(sandbox, unbroken);
}

TEST_F(RanksTest, an_exp_that_is_killed_leaves_no_rank_behind) {
  const Words settings = {"train.gradient_shards=2", "train.epochs=200"};
  Sandbox sandbox(true);
  with_file(sandbox);
  const pid_t exp = sandbox.start(command(settings, 2, 1));
  sandbox.wait_until([&] { return sandbox.workers().size() > 2; });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ::kill(exp, SIGKILL);
  EXPECT_TRUE(sandbox.wait_until_no_workers());
}

TEST_F(RanksTest, what_cannot_work_is_refused_before_anything_starts) {
  EXPECT_NE(refusal(command({"train.gradient_shards=3"}, 2, 1))
                .find("--ranks 2 does not divide train.gradient_shards = 3, the parts of a batch that ranks "
                      "share; possible are 1, 3"),
            std::string::npos);
  Words missing = command({"train.gradient_shards=2"}, 2, 1);
  missing.insert(missing.end(), {"--mpirun", "no_such_launcher -n {ranks}"});
  EXPECT_NE(refusal(missing).find("is started by no_such_launcher, which is not there"), std::string::npos);
  EXPECT_NE(refusal({"run", "tiny.toml", "--ranks", "0"}).find("--ranks 0 would train nothing"),
            std::string::npos);
  EXPECT_NE(refusal({"run", "tiny.toml", "--mpirun", "srun"}).find("say how many with --ranks N"),
            std::string::npos);
}

TEST_F(RanksTest, a_launcher_that_joins_nobody_is_named) {
  Sandbox sandbox(true);
  Words words = command({"train.gradient_shards=2"}, 2, 1);
  words.insert(words.end(), {"--mpirun", "env COUNT={ranks}"});
  const ProgramOutput output = with_file(sandbox).exp(words);
  EXPECT_NE(output.end.exit_code, 0);
  EXPECT_NE((output.output + output.errors).find("the launcher has started"), std::string::npos)
      << output.output << output.errors;
}

}  // namespace
}  // namespace encore::system_test
