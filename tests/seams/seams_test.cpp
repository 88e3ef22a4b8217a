// SPDX-License-Identifier: BSD-3-Clause
// Tests the seams, that is the interfaces between task, batches, heads and model, with parts that differ most
// from those that ship (parts.hpp): words that are masked again in every epoch and found with the embedding's
// own table, pairs with a loss over the batch, and copying by an encoder and a decoder. They must pass the
// contract suite (contract/suite.hpp), learn, resume with equal bits, and be refused in combinations that
// cannot work.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "config/error.hpp"
#include "contract/suite.hpp"
#include "record/checkpoint.hpp"
#include "support/training_runs.hpp"
#include "train/trainer.hpp"

namespace encore {
namespace {

namespace fs = std::filesystem;
using testing::Recorder;
using testing::ScriptedControl;

class Seams : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("encore_seams_" + std::to_string(::getpid()) + "_" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    for (const auto& [file, first, count] :
         {std::tuple{"train", 0, 96}, {"dev", 200, 16}, {"test", 300, 16}}) {
      write_sentences(std::string(file) + ".conll", first, count);
      write_pairs(std::string(file) + ".pairs", first, count);
      write_copies(std::string(file) + ".copy", first, 4 * count);
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Writes sentences in which each word determines the next.
  void write_sentences(const std::string& file, int first, int count) const {
    const char* words[] = {"one", "two", "three", "four", "five", "six", "seven"};
    std::ofstream out(folder_ / file);
    for (int i = first; i < first + count; ++i) {
      for (int k = 0; k < 4 + i % 5; ++k) out << words[(i + k) % 7] << "\tO\n";
      out << '\n';
    }
  }
  /// Writes pairs whose second text has the letter that the first one is about.
  void write_pairs(const std::string& file, int first, int count) const {
    std::ofstream out(folder_ / file);
    for (int i = first; i < first + count; ++i)
      out << "what is " << char('a' + i % 16) << '|' << "it is " << std::string(1 + i % 3, char('a' + i % 16))
          << '\n';
  }

  /// Writes strings of letters, each twice in a line: as the first and as the second text.
  void write_copies(const std::string& file, int first, int count) const {
    std::ofstream out(folder_ / file);
    std::uint32_t state = static_cast<std::uint32_t>(first) + 7;
    for (int i = 0; i < count; ++i) {
      std::string text;
      for (int k = 0; k < 2 + i % 4; ++k) {
        state = state * 1664525U + 1013904223U;
        text += static_cast<char>('a' + (state >> 16) % 6);
      }
      out << text << '|' << text << '\n';
    }
  }

  record::Specification masked(const std::vector<std::string>& overrides = {}) const {
    return specification(R"(
task.type = "masked_words"
data = { type = "conll", train = "train.conll", dev = "dev.conll", test = "test.conll", max_length = 16 }
tokenizer = { type = "word", vocab_size = 40 }
)",
                         "head.type = \"tied_words\"", overrides);
  }
  record::Specification pairs(const std::vector<std::string>& overrides = {}) const {
    return specification(R"(
task.type = "pairs"
data = { type = "pairs", train = "train.pairs", dev = "dev.pairs", test = "test.pairs", max_length = 16 }
tokenizer = { type = "character", vocab_size = 60 }
)",
                         "head.type = \"in_batch\"", overrides);
  }
  record::Specification copy(const std::vector<std::string>& overrides = {}) const {
    return specification(R"(
task.type = "copy"
data = { type = "pairs", train = "train.copy", dev = "dev.copy", test = "test.copy", max_length = 12 }
tokenizer = { type = "character", vocab_size = 40 }
)",
                         R"(
head.type = "tied_words"
decoder = { layers = 1, block = ["attention", "cross", "feed_forward"] }
layer.cross = { type = "cross_attention", heads = 2 }
)",
                         overrides);
  }
  record::Specification specification(const std::string& tables, const std::string& model,
                                      const std::vector<std::string>& overrides) const {
    return testing::specification_of(tables + R"(
seed = 3
optimizer = { type = "adam", learning_rate = 1e-2 }
schedule = { type = "constant" }
train = { batch_size = 8, epochs = 6, digest_steps = 4 }
[model]
width = 16
layers = 1
dropout = 0.1
block = ["attention", "feed_forward"]
layer.attention = { type = "self_attention", heads = 2 }
layer.feed_forward = { type = "feed_forward", hidden = 24 }
)" + model,
                                     folder_, {ENCORE_SEAMS}, overrides);
  }
  Recorder run(const std::string& name, const record::Specification& of,
               ScriptedControl control = ScriptedControl()) const {
    return testing::run_attempt(folder_ / name, of, control);
  }
  std::string refusal(const record::Specification& of) const {
    fs::remove_all(folder_ / "refused");
    try {
      run("refused", of);
    } catch (const config::ConfigError& error) {
      return error.key() + ": " + error.what();
    }
    return "not refused";
  }

  fs::path folder_;
};

double first_and_last(const Recorder& recorded, bool last) {
  double sum = 0.0;  // of six steps
  for (std::size_t i = 0; i < 6; ++i)
    sum += recorded.steps[last ? recorded.steps.size() - 1 - i : i].loss / 6;
  return sum;
}

TEST_F(Seams, EverythingPassesTheContractSuite) {
  plugin_host::Registry registry;
  registry.load_all(config::Catalogue::load({fs::path(ENCORE_SEAMS)}));
  const Device device;
  std::string failures;
  int passed = 0;
  for (const auto& [kind, name] : {std::pair{Kind::task, "masked_words"},
                                   {Kind::head, "tied_words"},
                                   {Kind::task, "pairs"},
                                   {Kind::head, "in_batch"},
                                   {Kind::task, "copy"}}) {
    const Offer& offer = registry.offer(kind, name);
    contract::run_suite(offer, contract::suite_checks(device, offer),
                        {[](const std::string&, std::string_view) {},
                         [&](const contract::Finding& finding) {
                           ++passed;
                           if (!finding.passed)
                             failures += finding.subject + " " + finding.check + ": " + finding.detail + "\n";
                         }});
  }
  EXPECT_EQ(failures, "");
  EXPECT_GT(passed, 30);
}

TEST_F(Seams, MaskedWordsAreLearnedWithTheTableOfTheEmbedding) {
  const Recorder recorded =
      run("masked", masked({"train.epochs=30", "model.width=32", "model.dropout=0",
                            "optimizer.learning_rate=3e-3", "model.norm_position=\"pre\""}));
  EXPECT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
  EXPECT_LT(first_and_last(recorded, true), 0.6 * first_and_last(recorded, false));
  EXPECT_GT(recorded.result.at("test/found"), 0.5) << "one of seven by chance";
  const auto checkpoint = record::find_newest_checkpoint(folder_ / "masked");
  for (const auto& [name, entry] : checkpoint->tensors.tensors())
    EXPECT_EQ(name.find("head"), std::string::npos) << name << ": the head has nothing of its own";
}

TEST_F(Seams, AMaskedRunThatIsStoppedEndsWithTheBitsOfOneThatIsNot) {
  const Recorder whole = run("whole", masked());
  run("stopped", masked(),
      ScriptedControl(17));  // in the middle of the second epoch, whose masks are drawn again
  const Recorder rest = run("stopped", masked());
  ASSERT_FALSE(whole.digests.empty());
  ASSERT_FALSE(rest.digests.empty());
  for (const auto& [what, sha256] : rest.digests) EXPECT_EQ(sha256, whole.digests.at(what)) << what.first;
  EXPECT_EQ(rest.result, whole.result);
  // The injected reordering: the rest of the run draws its masks with another seed under the same question.
  run("reordered", masked(), ScriptedControl(17));
  record::Specification other = masked();
  other.seed = 4;
  const Recorder reordered = run("reordered", other);
  EXPECT_NE(reordered.result, whole.result);
}

TEST_F(Seams, EpochsMaskOtherWords) {
  const Recorder recorded =
      run("masked", masked({"train.epochs=2", "model.dropout=0", "optimizer.learning_rate=1e-9"}));
  // With weights that hardly move, equal masks would give the sums of the first epoch again.
  double first = 0.0, second = 0.0;
  for (std::size_t i = 0; i < 12; ++i) {
    first += recorded.steps[i].loss;
    second += recorded.steps[12 + i].loss;
  }
  EXPECT_GT(std::abs(first - second), 1e-4 * first);
}

TEST_F(Seams, ShardsAndPrecisionsTakeATiedTable) {
  for (const std::vector<std::string>& overrides :
       {std::vector<std::string>{"train.gradient_shards=3", "train.epochs=1"},
        {"train.precision=\"bfloat16\"", "train.epochs=2"}}) {
    const Recorder recorded = run("masked_" + overrides[0].substr(6, 5), masked(overrides));
    EXPECT_EQ(recorded.ending, record::Ending::completed) << overrides[0] << ": " << recorded.reason;
    EXPECT_LT(recorded.steps.back().loss, recorded.steps.front().loss) << overrides[0];
  }
}

TEST_F(Seams, PairsFindEachOther) {
  const Recorder recorded = run("pairs", pairs({"train.epochs=12"}));
  EXPECT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
  EXPECT_LT(first_and_last(recorded, true), 0.8 * first_and_last(recorded, false));
  EXPECT_GT(recorded.result.at("test/found"), 0.25) << "one of sixteen by chance";
}

TEST_F(Seams, ADecoderLearnsToCopyWhatTheEncoderRead) {
  const std::vector<std::string> longer = {"train.epochs=30", "model.width=32", "model.dropout=0",
                                           "optimizer.learning_rate=5e-3"};
  const Recorder recorded = run("copy", copy(longer));
  EXPECT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
  EXPECT_GT(recorded.result.at("test/right"), 0.8) << "one of six by chance";
}

TEST_F(Seams, ADecoderThatIsStoppedEndsWithTheBitsOfOneThatIsNot) {
  const std::vector<std::string> two = {"train.epochs=2", "train.gradient_shards=2"};
  const Recorder whole = run("whole", copy(two));
  run("stopped", copy(two), ScriptedControl(61));
  const Recorder rest = run("stopped", copy(two));
  ASSERT_FALSE(rest.digests.empty());
  for (const auto& [what, sha256] : rest.digests) EXPECT_EQ(sha256, whole.digests.at(what)) << what.first;
  EXPECT_EQ(rest.result, whole.result);
}

TEST_F(Seams, AStackThatNoHeadReadsIsRefused) {
  EXPECT_EQ(refusal(masked({"model.decoder={ layers = 1, block = [\"cross\"] }",
                            "model.layer.cross={ type = \"cross_attention\", heads = 2 }"})),
            "model.decoder: the head \"tied_words\" reads nothing of the decoder; leave [model.decoder] out, "
            "or name a "
            "head of the second text");
  EXPECT_EQ(
      refusal(copy({"model.decoder.block=[\"feed_forward\"]", "model.block=[\"attention\", \"cross\"]"})),
      "model.layer.cross: encoder.0.cross reads the rows of an encoder; it is for the blocks of a decoder");
}

TEST_F(Seams, ALossOfTheBatchIsNeitherCutNorSelectedBy) {
  EXPECT_EQ(refusal(pairs({"train.gradient_shards=2"})),
            "train.gradient_shards: the loss of the head \"in_batch\" depends on whole batches, which cannot "
            "be cut; set 1");
  EXPECT_EQ(refusal(pairs({"train.select=\"min dev/loss\""})),
            "train.select: the loss of this head depends on which examples stand together in a batch, so "
            "\"dev/loss\" cannot choose the best checkpoint; name a measure");
}

TEST_F(Seams, AHeadThatDoesNotFitItsTaskIsRefused) {
  EXPECT_EQ(
      refusal(pairs({"model.head.type=\"tied_words\""})),
      "model.head.type: the head \"tied_words\" reads the column \"masked\" (integers over picked), and the "
      "task \"pairs\" has none of that name");
}

}  // namespace
}  // namespace encore
