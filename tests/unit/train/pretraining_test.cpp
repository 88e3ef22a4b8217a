// SPDX-License-Identifier: BSD-3-Clause
// Tests a pretraining with the shipped parts (Trainer, train/trainer.hpp, with the task "mlm"): masked
// language modelling of plain text lowers the perplexity, and neither threads nor a stop with a resume change
// a bit.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/sha256.hpp"
#include "support/child_threads.hpp"
#include "support/training_runs.hpp"

namespace encore::train {
namespace {

namespace fs = std::filesystem;
using testing::Recorder;
using testing::ScriptedControl;

class Pretraining : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("encore_pretraining_" + std::to_string(::getpid()) + "_" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    for (const auto& [file, first, count] :
         {std::tuple{"train.txt", 0, 96}, {"dev.txt", 200, 24}, {"test.txt", 300, 24}})
      write_text(file, first, count);
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Writes lines in which each word determines its neighbours. Some lines are longer than max_length.
  void write_text(const std::string& file, int first, int count) const {
    const char* words[] = {"one", "two", "three", "four", "five", "six", "seven"};
    std::ofstream out(folder_ / file);
    for (int i = first; i < first + count; ++i) {
      for (int k = 0; k < (i % 16 == 0 ? 30 : 5 + i % 7); ++k) out << words[(i + k) % 7] << ' ';
      out << (i % 8 == 0 ? "\n\n" : "\n");
    }
  }

  record::Specification specification(const std::vector<std::string>& overrides = {}) const {
    return testing::specification_of(R"(
seed = 3
task = { type = "mlm", probability = 0.3 }
data = { type = "text_file", train = "train.txt", dev = "dev.txt", test = "test.txt", max_length = 16 }
tokenizer = { type = "wordpiece", vocab_size = 40 }
optimizer = { type = "adamw", learning_rate = 5e-3 }
schedule = { type = "constant" }
train = { batch_size = 8, epochs = 3, digest_steps = 4 }
[model]
width = 24
layers = 1
dropout = 0.1
norm_position = "pre"
block = ["attention", "feed_forward"]
layer.attention = { type = "self_attention", heads = 2 }
layer.feed_forward = { type = "feed_forward", hidden = 32 }
head.type = "language_model"
)",
                                     folder_, {}, overrides);
  }
  Recorder run(const std::string& name, const record::Specification& of,
               ScriptedControl control = ScriptedControl()) const {
    return testing::run_attempt(folder_ / name, of, control);
  }

  fs::path folder_;
};

TEST_F(Pretraining, PerplexityFallsAndWordsAreGuessed) {
  for (const char* whole_word : {"false", "true"}) {
    const Recorder recorded = run(
        std::string("run_") + whole_word,
        specification({"train.epochs=30", "model.dropout=0", std::string("task.whole_word=") + whole_word}));
    ASSERT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
    const std::map<std::int64_t, double>& curve = recorded.values.at("dev/perplexity");
    EXPECT_LT(curve.rbegin()->second, 0.5 * curve.begin()->second);
    EXPECT_GT(recorded.result.at("test/accuracy"), 0.5);
    EXPECT_NEAR(std::log(recorded.result.at("test/perplexity")), recorded.result.at("test/loss"), 1e-4)
        << "the loss of the set is the mean over its masked tokens";
  }
}

TEST_F(Pretraining, ReportsTheContentOfEachSet) {
  const Recorder recorded = run("run", specification({"train.epochs=1"}));
  const auto note = std::ranges::find_if(
      recorded.notes, [](const std::string& line) { return line.starts_with("train: 96 examples, "); });
  ASSERT_NE(note, recorded.notes.end());
  EXPECT_NE(note->find(" windows, "), std::string::npos) << *note;
  EXPECT_NE(note->find(" masked pieces"), std::string::npos) << *note;
  EXPECT_NE(std::ranges::find(recorded.notes, "train: 12 lines have no text and are skipped"),
            recorded.notes.end());
}

TEST_F(Pretraining, AStoppedRunEndsWithTheBitsOfAnUnbrokenOne) {
  for (const std::vector<std::string>& overrides :
       {std::vector<std::string>{}, {"train.gradient_shards=3", "task.whole_word=true"}}) {
    const std::string name = overrides.empty() ? "plain" : "shards";
    const Recorder whole = run(name + "_whole", specification(overrides));
    ASSERT_EQ(whole.ending, record::Ending::completed) << whole.reason;
    EXPECT_EQ(run(name + "_again", specification(overrides)).digests, whole.digests);
    run(name + "_stopped", specification(overrides), ScriptedControl(17));  // within the second epoch
    const Recorder rest = run(name + "_stopped", specification(overrides));
    ASSERT_FALSE(rest.digests.empty());
    for (const auto& [what, sha256] : rest.digests) EXPECT_EQ(sha256, whole.digests.at(what)) << what.second;
    EXPECT_EQ(rest.result, whole.result);
    // The injected change: the rest of the run draws other masks.
    run(name + "_other", specification(overrides), ScriptedControl(17));
    record::Specification other = specification(overrides);
    other.seed = 4;
    EXPECT_NE(run(name + "_other", other).result, whole.result);
  }
}

TEST_F(Pretraining, AcceptsBfloat16AndLabelSmoothing) {
  const Recorder recorded =
      run("run", specification({"train.precision=\"bfloat16\"", "train.label_smoothing=0.1"}));
  ASSERT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
  EXPECT_LT(recorded.steps.back().loss, recorded.steps.front().loss);
  EXPECT_LT(std::log(recorded.result.at("test/perplexity")), recorded.result.at("test/loss"))
      << "perplexity is that of the true tokens alone";
}

struct PretrainingChild : Pretraining {};

/// Runs in the child: prints the values that the parent compares.
TEST_F(PretrainingChild, DISABLED_Trains) {
  Sha256 hash;
  const Recorder recorded = run("run", specification());
  for (const auto& [what, sha256] : recorded.digests) hash.add(std::as_bytes(std::span(sha256)));
  for (const auto& [name, value] : recorded.result) hash.add(std::as_bytes(std::span(&value, 1)));
  testing::print_digest(hash.hex());
}

TEST(PretrainingThreads, OneAndTwoGiveEqualBits) {
  if (!memory::host_reaches_device()) GTEST_SKIP() << "threads of the host only";
  const auto in_child = [](int threads) {
    return testing::digest_of_child("train_test", "PretrainingChild.DISABLED_Trains", threads);
  };
  EXPECT_EQ(in_child(2), in_child(1));
}

}  // namespace
}  // namespace encore::train
