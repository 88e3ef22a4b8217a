// SPDX-License-Identifier: BSD-3-Clause
// Tests a run of the task "qa" (Trainer, train/trainer.hpp), whose examples are several sequences each, with
// the promises of promises_test.cpp: it learns; a stopped run ends with the bits of an unbroken one; gradient
// shards and bfloat16 are accepted; threads change no bit.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/sha256.hpp"
#include "support/child_threads.hpp"
#include "support/small_squad.hpp"
#include "support/training_runs.hpp"

namespace encore::train {
namespace {

namespace fs = std::filesystem;
using testing::Recorder;
using testing::ScriptedControl;

class QaRun : public ::testing::Test {
 protected:
  QaRun()
      : folder_(fs::temp_directory_path() /
                ("encore_qa_" + std::to_string(::getpid()) + "_" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::create_directories(folder_);
    for (const auto& [file, first, count] :
         {std::tuple{"train.json", 0, 80}, {"dev.json", 80, 20}, {"test.json", 100, 20}})
      std::ofstream(folder_ / file) << testing::small_squad(first, count);
  }
  ~QaRun() override { fs::remove_all(folder_); }

  Recorder run(const std::string& name, const std::vector<std::string>& overrides = {},
               ScriptedControl control = ScriptedControl()) const {
    const record::Specification specification = testing::specification_of(R"(
seed = 3
task = { type = "qa", stride = 3, max_question = 4, max_answer = 4 }
data = { type = "squad", train = "train.json", dev = "dev.json", test = "test.json", max_length = 24 }
tokenizer = { type = "word", vocab_size = 60 }
optimizer = { type = "adam", learning_rate = 1e-2 }
schedule = { type = "linear", warmup_steps = 3 }
train = { batch_size = 8, epochs = 3, digest_steps = 4 }
[model]
width = 16
layers = 1
dropout = 0.1
block = ["attention", "feed_forward"]
layer.attention = { type = "self_attention", heads = 2 }
layer.feed_forward = { type = "feed_forward", hidden = 24 }
head.type = "span"
)",
                                                                          folder_, {}, overrides);
    return testing::run_attempt(folder_ / name, specification, control);
  }

  fs::path folder_;
};

TEST_F(QaRun, FindsAnswersInContextsOfSeveralWindows) {
  const Recorder recorded = run("whole", {"train.epochs=15", "model.dropout=0"});
  ASSERT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
  EXPECT_LT(recorded.steps.back().loss, 0.5 * recorded.steps.front().loss);
  EXPECT_GT(recorded.result.at("test/f1"), 0.7);
  EXPECT_GE(recorded.result.at("test/f1"), recorded.result.at("test/exact_match"));
  EXPECT_TRUE(std::ranges::any_of(recorded.notes, [](const std::string& note) {
    return note.find("are longer than a window of max_length = 24") != std::string::npos;
  }));
}

TEST_F(QaRun, ThatWasStoppedEndsWithTheBitsOfAnUnbrokenOne) {
  const std::vector<std::string> shards = {"train.gradient_shards=3"};
  const Recorder whole = run("whole", shards);
  run("stopped", shards, ScriptedControl(17));
  const Recorder rest = run("stopped", shards);
  ASSERT_FALSE(rest.digests.empty());
  for (const auto& [what, sha256] : rest.digests) EXPECT_EQ(sha256, whole.digests.at(what)) << what.first;
  EXPECT_EQ(rest.result, whole.result);
}

TEST_F(QaRun, AcceptsShardsAndPrecisions) {
  for (const char* setting : {"train.gradient_shards=3", "train.precision=\"bfloat16\"",
                              "train.batching=\"padded\"", "task.no_answer=true"}) {
    fs::remove_all(folder_ / "run");
    const Recorder recorded = run("run", {setting});
    EXPECT_EQ(recorded.ending, record::Ending::completed) << setting << ": " << recorded.reason;
    EXPECT_LT(recorded.steps.back().loss, recorded.steps.front().loss) << setting;
  }
}

/// Runs in a child process: prints one hash of digests and scores, which the parent compares.
class QaRunChild : public QaRun {};
TEST_F(QaRunChild, DISABLED_Trains) {
  const Recorder recorded = run("whole", {"train.epochs=2", "train.gradient_shards=2"});
  Sha256 hash;
  for (const auto& [what, sha256] : recorded.digests)
    hash.add(std::to_string(what.first) + what.second + sha256 + "\n");
  for (const auto& [name, value] : recorded.result) hash.add(name + " " + std::to_string(value) + "\n");
  testing::print_digest(hash.hex());
}

TEST_F(QaRun, HasEqualBitsWithOneTwoAndThreeThreads) {
  if (std::string(ENCORE_BACKEND_NAME) != "openmp") GTEST_SKIP() << "threads of the host only";
  const auto in_child = [](int threads) {
    return testing::digest_of_child("train_test", "QaRunChild.DISABLED_Trains", threads);
  };
  const std::string one = in_child(1);
  EXPECT_EQ(in_child(2), one);
  EXPECT_EQ(in_child(3), one);
}

}  // namespace
}  // namespace encore::train
