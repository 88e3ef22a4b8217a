// SPDX-License-Identifier: BSD-3-Clause
// Tests the promises of every task with one small run of each (Trainer, train/trainer.hpp): it learns; a
// stopped run ends with the bits of an unbroken one; threads change no bit, nor does recomputation in the
// backward pass; gradient shards are accepted, or rejected if a loss couples the sequences of a batch. A new
// task adds its case to the list.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>

#include "base/measures.hpp"
#include "base/sha256.hpp"
#include "infer/engine.hpp"
#include "kernels/host_threads.hpp"
#include "support/child_threads.hpp"
#include "support/training_runs.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::train {
namespace {

namespace fs = std::filesystem;
using testing::Recorder;
using testing::ScriptedControl;

struct Case {
  std::string name;
  std::string task;
  std::string task_options = {};  ///< TOML after the type in [task]
  std::string data;               ///< TOML of [data] beside its files
  std::string head;
  std::string head_options = {};  ///< lines of [model]
  /// Returns line i of a file.
  std::string (*line)(int i);
  std::string measure;  ///< name of the measure, in the result of the run, that shows whether it learned
  double at_least = 0.0;
  std::string attention = "type = \"self_attention\"";
  std::vector<std::string> overrides = {};
  std::string sets = R"(train = "train.tsv", dev = "dev.tsv", test = "test.tsv", max_length = 24)";
  bool couples_batches = false;  ///< its loss compares the sequences of a batch
  int epochs = 12;               ///< the number after which it has learned
};
std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << one.name;
}

const char* const words[] = {"good", "great", "bad", "dull"};
const char* const things[] = {"film", "plot", "cast", "scene", "end"};

std::string review(int i) {
  return std::string("a ") + words[i % 4] + " " + things[i % 5];
}
std::string one_label(int i) {
  return review(i) + "\t" + (i % 4 < 2 ? "positive" : "negative");
}
/// Returns a label that depends on the second segment alone, so that a model has to read it.
std::string pair_label(int i) {
  return review(i) + "\t" + words[i / 4 % 4] + "\t" + (i / 4 % 4 < 2 ? "praised" : "panned");
}
std::string several_labels(int i) {
  return review(i) + "\t" + (i % 4 < 2 ? "positive" : "") +
         (i % 4 == 1   ? ",strong"
          : i % 4 == 3 ? "strong"
                       : "");
}
/// Returns a text, and the same words in another order.
std::string two_texts(int i) {
  return review(i) + "\t" + things[i % 5] + " , " + words[i % 4];
}
/// Returns two inputs whose similarity depends on the first word alone.
std::string alike(int i) {
  return review(i) + "\t" + words[i / 4 % 4] + "\t" + std::to_string(i % 4 / 2 == i / 4 % 4 / 2 ? 5 : 0);
}
std::string number(int i) {
  return review(i) + "\t" + std::to_string(3 - i % 4) + ".5";
}

/// Returns a case with a task that any encoder learns and a model with this attention.
Case of_layer(const std::string& name, const std::string& attention,
              const std::vector<std::string>& overrides = {}) {
  return {.name = name,
          .task = "classify",
          .data = "type = \"tsv\"",
          .head = "linear",
          .line = one_label,
          .measure = "test/accuracy",
          .at_least = 0.9,
          .attention = attention,
          .overrides = overrides};
}

/// Returns a sentence of three words in which the label of a thing depends on the word before it.
std::string tagged_words(int i) {
  const std::string word = words[i % 4];
  return "a\tDET\n" + word + "\tADJ\n" + things[i % 5] + (i % 4 < 2 ? "\tPRAISED\n" : "\tPANNED\n");
}
/// Returns a text with two spans, whose order decides the label.
std::string relation(int i) {
  const std::string one = "<e1>" + std::string(words[i % 4]) + "</e1>",
                    other = "<e2>" + std::string(things[i % 5]) + "</e2>";
  return "a " + (i % 3 == 0 ? one + " " + other : other + " is " + one) +
         (i % 3 == 0 ? "\tquality" : "\tstate");
}

/// Returns a line in which each word determines the next one; some lines are longer than max_length.
std::string counting(int i) {
  static const char* const numbers[] = {"one", "two", "three", "four", "five", "six", "seven"};
  std::string line;
  for (int k = 0; k < (i % 8 == 0 ? 40 : 5 + i % 7); ++k) line += std::string(numbers[(i + k) % 7]) + " ";
  return line;
}

/// Returns a case with a model that predicts the next word.
Case of_language(const std::string& name, const std::vector<std::string>& overrides = {}) {
  return {.name = name,
          .task = "lm",
          .data = "type = \"text_file\"",
          .head = "language_model",
          .head_options = "causal = true\nhead.transform = false",
          .line = counting,
          .measure = "test/accuracy",
          .at_least = 0.8,
          .overrides = overrides};
}

/// Returns a line of words of one kind, so that a second segment from another line can be recognized.
std::string of_one_thing(int i) {
  const std::string thing = things[i % 5];
  std::string line;
  for (int k = 0; k < (i % 16 == 15 ? 1 : 4 + i % 3); ++k)
    line += (k > 0 ? " " : "") + (k % 3 == 2 ? std::string(words[(i + k) % 4]) : thing);
  return line;
}

/// Returns a case with a model that predicts masked words.
Case of_masked_language(const std::string& name, const std::string& task_options, std::string (*line)(int i),
                        const std::string& measure, double at_least) {
  return {.name = name,
          .task = "mlm",
          .task_options = task_options,
          .data = "type = \"text_file\"",
          .head = "language_model",
          .line = line,
          .measure = measure,
          .at_least = at_least,
          .overrides = {"tokenizer.type=\"wordpiece\"", "tokenizer.vocab_size=100", "model.segments=2",
                        "model.norm_position=\"pre\""},
          .epochs = 60};
}

/// Returns a sentence, and the same in another language with another word order.
std::string translation(int i) {
  const char* const adjectives[] = {"gut", "gross", "schlecht", "fad"};
  const char* const nouns[] = {"Film", "Stoff", "Rolle", "Szene", "Ende"};
  return review(i) + "\t" + nouns[i % 5] + " ist " + adjectives[i % 4] + " !";
}
/// Returns an input, and its important words.
std::string summary(int i) {
  return review(i) + " , so is the " + things[(i + 1) % 5] + "\t" + words[i % 4] + " " + things[i % 5];
}

/// Returns a case with a task of an encoder and a decoder. Checkpoints are selected by a metric of tokens,
/// which improves before generated outputs do.
Case of_two_stacks(const std::string& task, std::string (*line)(int i)) {
  return {.name = task,
          .task = task,
          .task_options = ", beam = 2",
          .data = "type = \"tsv\", source_column = \"1\", target_column = \"2\"",
          .head = "language_model",
          .head_options = "head.transform = false",
          .line = line,
          .measure = "test/accuracy",
          .at_least = 0.9,
          .overrides = {"model.layer.cross={ type = \"cross_attention\", heads = 2 }",
                        "model.decoder={ layers = 1, block = [\"attention\", \"cross\", \"feed_forward\"] }",
                        "train.select=\"max dev/accuracy\""}};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {.name = "classify",
       .task = "classify",
       .data = "type = \"tsv\"",
       .head = "linear",
       .line = one_label,
       .measure = "test/accuracy",
       .at_least = 0.9},
      {.name = "classify_pairs",
       .task = "classify",
       .data = "type = \"tsv\", text2_column = \"2\", label_column = \"3\"",
       .head = "linear",
       .line = pair_label,
       .measure = "test/accuracy",
       .at_least = 0.9},
      {.name = "classify_weighed",
       .task = "classify",
       .task_options = ", class_weights = \"balanced\", label_weights = [\"positive=2\"]",
       .data = "type = \"tsv\"",
       .head = "linear",
       .head_options = "head.dropout = 0.2\nhead.pooler = true",
       .line = one_label,
       .measure = "test/accuracy",
       .at_least = 0.9},
      {.name = "multilabel_tuned",
       .task = "multilabel",
       .task_options = ", threshold = 0.9, tune_thresholds = true",
       .data = "type = \"tsv\", label_type = \"list\"",
       .head = "sigmoid",
       .line = several_labels,
       .measure = "test/micro_f1",
       .at_least = 0.9},
      {.name = "tag",
       .task = "tag",
       .data = "type = \"conll\", label_type = \"word\"",
       .head = "linear",
       .head_options = "head.dropout = 0.1",
       .line = tagged_words,
       .measure = "test/accuracy",
       .at_least = 0.9},
      {.name = "tag_weighed",
       .task = "tag",
       .task_options = ", class_weights = \"balanced\"",
       .data = "type = \"conll\", label_type = \"word\"",
       .head = "linear",
       .line = tagged_words,
       .measure = "test/accuracy",
       .at_least = 0.9},
      {.name = "relation",
       .task = "relation",
       .task_options = ", class_weights = \"balanced\"",
       .data = "type = \"tsv\", marked_spans = true",
       .head = "span_pair",
       .head_options = "head.dropout = 0.1",
       .line = relation,
       .measure = "test/f1_macro",
       .at_least = 0.9},
      {.name = "multilabel",
       .task = "multilabel",
       .data = "type = \"tsv\", label_type = \"list\"",
       .head = "sigmoid",
       .line = several_labels,
       .measure = "test/micro_f1",
       .at_least = 0.9},
      {.name = "regress",
       .task = "regress",
       .data = "type = \"tsv\", label_type = \"number\"",
       .head = "regression",
       .line = number,
       .measure = "test/spearman",
       .at_least = 0.9},
      of_two_stacks("translate", translation),
      of_two_stacks("summarize", summary),
      of_layer("linear_attention", "type = \"linear_attention\""),
      of_layer("sparse_attention", "type = \"sparse_attention\", window = 1, stride = 2"),
      of_layer("disentangled_attention", "type = \"disentangled_attention\", max_distance = 3"),
      of_layer("factorised_embedding", "type = \"self_attention\", head_size = 5",
               {"model.embedding_width=6", "model.final_norm=true",
                "model.layer.feed_forward.activation=\"silu\""}),
      // This case splits one list of files into its sets, and takes max_length from the training set.
      {.name = "classify_split",
       .task = "classify",
       .data = "type = \"tsv\"",
       .head = "linear",
       .line = one_label,
       .measure = "test/accuracy",
       .at_least = 0.9,
       .sets =
           R"(train = ["train.tsv", "dev.tsv", "test.tsv"], split = [0.6, 0.2, 0.2], max_length = "95%")"},
      {.name = "embed",
       .task = "embed",
       .data = "type = \"tsv\", text2_column = \"2\", label_column = \"\"",
       .head = "embedding",
       .line = two_texts,
       .measure = "test/accuracy",
       .at_least = 0.8,
       .couples_batches = true},
      {.name = "embed_numbers",
       .task = "embed",
       .data = "type = \"tsv\", text2_column = \"2\", label_column = \"3\", label_type = \"number\"",
       .head = "embedding",
       .line = alike,
       .measure = "test/spearman",
       .at_least = 0.8,
       .overrides = {"train.select=\"max dev/spearman\""}},
      of_language("lm"),
      of_masked_language("mlm", ", whole_word = true", counting, "test/accuracy", 0.8),
      of_masked_language("mlm_pairs", ", next_sentence = true", of_one_thing, "test/next_accuracy", 0.7),
      of_language("lm_by_tokens", {"train.batch_tokens=100"}),
  };
  return all;
}

/// A folder with the files of a case, removed at the end.
class Place {
 public:
  explicit Place(const Case& one)
      : case_(one),
        folder_(fs::temp_directory_path() /
                ("encore_promises_" + std::to_string(::getpid()) + "_" + one.name)) {
    fs::create_directories(folder_);
    for (const auto& [file, first, count] :
         {std::tuple{"train", 0, 80}, {"dev", 80, 20}, {"test", 100, 20}}) {
      std::ofstream out(folder_ / (std::string(file) + ".tsv"));
      for (int i = first; i < first + count; ++i) out << one.line(i) << '\n';
    }
  }
  Place(const Place&) = delete;
  ~Place() { fs::remove_all(folder_); }

  const fs::path& folder() const { return folder_; }

  Recorder run(const std::string& name, const std::vector<std::string>& overrides = {},
               ScriptedControl control = ScriptedControl(), std::uint64_t seed = 3,
               const std::function<void(const Device&)>& between_steps = {}) const {
    const std::string text = "task = { type = \"" + case_.task + "\"" + case_.task_options + " }\ndata = { " +
                             case_.data + ", " + case_.sets + R"( }
seed = 3
tokenizer = { type = "word", vocab_size = 40 }
optimizer = { type = "adam", learning_rate = 1e-2 }
schedule = { type = "linear", warmup_steps = 3 }
train = { batch_size = 8, epochs = 4, digest_steps = 4 }
[model]
width = 16
layers = 1
dropout = 0.1
block = ["attention", "feed_forward"]
layer.attention = { )" + case_.attention +
                             R"(, heads = 2 }
layer.feed_forward = { type = "feed_forward", hidden = 24 }
head.type = ")" + case_.head +
                             "\"\n" + case_.head_options + "\n";
    std::vector<std::string> all = case_.overrides;
    all.insert(all.end(), overrides.begin(), overrides.end());
    record::Specification of = testing::specification_of(text, folder_, {}, all);
    of.seed = seed;
    return testing::run_attempt(folder_ / name, of, control, tasks::TokenCache{fs::path()}, {}, nullptr,
                                between_steps);
  }

 private:
  const Case& case_;
  fs::path folder_;
};

/// Returns a hash of all digests and of the result of a run of two epochs.
std::string digest_of(const Case& one, const std::function<void(const Device&)>& between_steps = {}) {
  const Recorder told = Place(one).run(
      "whole",
      {"train.epochs=2", one.couples_batches ? "train.gradient_shards=1" : "train.gradient_shards=2"},
      ScriptedControl(), 3, between_steps);
  Sha256 hash;
  for (const auto& [what, sha256] : told.digests)
    hash.add(std::to_string(what.first) + what.second + sha256 + "\n");
  for (const auto& [name, value] : told.result) hash.add(name + " " + std::to_string(value) + "\n");
  return hash.hex();
}

class Promises : public ::testing::TestWithParam<Case> {};

TEST_P(Promises, ItLearns) {
  const Recorder told =
      Place(GetParam())
          .run("whole", {"train.epochs=" + std::to_string(GetParam().epochs), "model.dropout=0"});
  ASSERT_EQ(told.ending, record::Ending::completed) << told.reason;
  EXPECT_LT(told.steps.back().loss, told.steps.front().loss);
  EXPECT_GE(told.result.at(GetParam().measure), GetParam().at_least);
}

TEST_P(Promises, AStoppedRunEndsWithTheBitsOfOneThatWasNot) {
  const Place place(GetParam());
  const Recorder whole = place.run("whole");
  place.run("stopped", {}, ScriptedControl(17));
  const Recorder rest = place.run("stopped");
  ASSERT_FALSE(rest.digests.empty());
  for (const auto& [what, sha256] : rest.digests) EXPECT_EQ(sha256, whole.digests.at(what)) << what.first;
  EXPECT_EQ(rest.result, whole.result);
  // The injected change: the rest of the run takes its examples in another order.
  place.run("reordered", {}, ScriptedControl(17));
  EXPECT_NE(place.run("reordered", {}, ScriptedControl(), 4).digests, rest.digests);
}

TEST_P(Promises, WhatTheBackwardPassComputesAgainHasTheSameBits) {
  const Place place(GetParam());
  for (const std::string norms : {"post", "pre"}) {
    const auto run = [&](const std::string& recompute, const std::string& name,
                         ScriptedControl control = ScriptedControl(), std::uint64_t seed = 3) {
      return place.run(name + "_" + norms,
                       {"train.recompute=" + recompute, "model.norm_position=" + norms, "model.layers=2",
                        "train.epochs=1", "train.digest_steps=2"},
                       control, seed);
    };
    const Recorder kept = run("none", "none");
    ASSERT_EQ(kept.ending, record::Ending::completed) << kept.reason;
    for (const char* recompute : {"cheap", "blocks"})
      EXPECT_EQ(run(recompute, recompute).digests, kept.digests) << recompute << ", norms " << norms;
    run("none", "changed", ScriptedControl(5));  // stopped there, it continues in another way
    const Recorder rest = run("blocks", "changed");
    ASSERT_FALSE(rest.digests.empty());
    for (const auto& [what, sha256] : rest.digests) EXPECT_EQ(sha256, kept.digests.at(what)) << what.first;
    EXPECT_NE(run("blocks", "another", ScriptedControl(), 4).digests, kept.digests);
  }
}

TEST_P(Promises, ShardsAndPrecisionsAreTaken) {
  for (const char* setting : {"train.gradient_shards=3", "train.precision=\"bfloat16\""}) {
    if (GetParam().couples_batches && std::string(setting).starts_with("train.gradient_shards")) {
      EXPECT_THROW(Place(GetParam()).run("whole", {setting}), Error) << "its loss couples whole batches";
      continue;
    }
    const Recorder told = Place(GetParam()).run("whole", {setting});
    EXPECT_EQ(told.ending, record::Ending::completed) << setting << ": " << told.reason;
    EXPECT_LT(told.steps.back().loss, told.steps.front().loss) << setting;
  }
}

TEST_P(Promises, OneTwoAndThreeThreadsGiveEqualBits) {
  if (std::string(ENCORE_BACKEND_NAME) != "openmp") GTEST_SKIP() << "threads of the host only";
  const auto in_child = [](int threads) {
    return testing::digest_of_child("train_test", "Cases/PromisesChild.DISABLED_Trains/" + GetParam().name,
                                    threads);
  };
  const std::string one = in_child(1);
  EXPECT_EQ(in_child(2), one);
  EXPECT_EQ(in_child(3), one);
}

/// The injected reordering of model_test (Threads) proves that an order by threads would be noticed.
TEST_P(Promises, ThreadsThatChangeBetweenStepsGiveEqualBits) {
  if (std::string(ENCORE_BACKEND_NAME) != "openmp") GTEST_SKIP() << "threads of the host only";
  const std::string unchanged =
      testing::digest_of_child("train_test", "Cases/PromisesChild.DISABLED_Trains/" + GetParam().name, 1);
  for (const int draw : {1, 2})
    EXPECT_EQ(testing::digest_of_child(
                  "train_test", "Cases/PromisesChild.DISABLED_TrainsWithChangingThreads/" + GetParam().name,
                  3, "ENCORE_TEST_DRAW=" + std::to_string(draw) + " "),
              unchanged)
        << "draw " << draw;
}

const Case& case_of(const std::string& name) {
  return *std::ranges::find(cases(), name, &Case::name);
}

/// The results at the end of a run are those of any program that loads its weights, from the weights file or
/// the best checkpoint: the thresholds belong to these parameters.
TEST(TunedThresholds, BelongToTheChosenParameters) {
  const Place place(case_of("multilabel_tuned"));
  const Recorder told = place.run("whole", {"train.select=\"min dev/loss\""});
  ASSERT_EQ(told.ending, record::Ending::completed) << told.reason;
  const Device device;
  for (const char* gone : {"", record::weights_file}) {
    if (*gone != 0) fs::remove(place.folder() / "whole" / gone);
    infer::Engine engine(place.folder() / "whole",
                         record::Specification::load(place.folder() / "whole").plugin_folders, device);
    const Records records =
        tasks::read_set(engine.reader(), {(place.folder() / "test.tsv").string()}, "test set").records;
    engine.extend(records);
    const tasks::EncodedSet set = engine.encode(records);
    const Statistics statistics =
        tasks::measured(engine.task(), set.set, engine.run(set).outputs, "test set");
    for (const auto& [name, value] : measure_values(engine.measures(), statistics))
      EXPECT_EQ(value, told.result.at("test/" + name)) << name << " without " << gone;
  }
  const Recorder untuned =
      place.run("untuned", {"train.select=\"min dev/loss\"", "task.tune_thresholds=false"});
  EXPECT_NE(untuned.result.at("dev/micro_f1"), told.result.at("dev/micro_f1"));
  EXPECT_EQ(untuned.result.at("dev/loss"), told.result.at("dev/loss")) << "the parameters are the same";
  EXPECT_EQ(untuned.digests, told.digests);
}

/// A crf does not read class weights, and the linear head cannot smooth labels that have weights. Both are
/// refused before anything is trained.
TEST(ClassWeights, AreRefusedIfTheHeadDoesNotReadThem) {
  const Place place(case_of("tag_weighed"));
  EXPECT_EQ(testing::message_of<Error>([&] { place.run("crf", {"model.head.type=\"crf\""}); }),
            "the task \"tag\" weighs what is learned (the column \"weights\"), and the head "
            "\"crf\" does not read it; take the weights out of [task], or name a head that reads them");
  EXPECT_NE(testing::message_of<Error>([&] {
              place.run("smooth", {"train.label_smoothing=0.1"});
            }).find("the linear head cannot smooth labels if the task weighs them"),
            std::string::npos);
}

/// Such a model would learn to copy the next token, which it sees.
TEST(LanguageModel, IsRefusedIfTheModelSeesItsTargets) {
  const Place place(case_of("lm"));
  EXPECT_EQ(testing::message_of<Error>([&] { place.run("seen", {"model.causal=false"}); }),
            "the target of each row is the token behind it, which this model sees and would only copy; set "
            "[model] causal = true");
}

/// The windows of a document are learned in different batches, and its score does not depend on that.
TEST(LanguageModel, LearnsFromTheWindowsOfATextOneByOne) {
  const Place place(case_of("lm"));
  const Recorder told = place.run("whole", {"train.epochs=1"});
  ASSERT_EQ(told.ending, record::Ending::completed) << told.reason;
  EXPECT_EQ(told.steps.size(), 12U) << "80 lines, 10 of them in two windows: 90 in batches of 8";
  const Recorder one = place.run("one",
                                 {"train.epochs=1", "train.batch_size=1", "optimizer.learning_rate=1e-30"}),
                 all = place.run("all",
                                 {"train.epochs=1", "train.batch_size=200", "optimizer.learning_rate=1e-30"});
  EXPECT_EQ(all.steps.size(), 1U);
  const double alone = one.result.at("test/perplexity"), together = all.result.at("test/perplexity");
  if (std::string(ENCORE_BACKEND_NAME) == "openmp") {
    EXPECT_EQ(alone, together);
  } else {
    EXPECT_NEAR(alone, together, 1e-5 * alone) << "products of more rows may round otherwise";
  }
  EXPECT_NEAR(std::log(told.result.at("test/perplexity")), told.result.at("test/loss"), 1e-4);
}

class PromisesChild : public ::testing::TestWithParam<Case> {};

/// Runs in the child: prints the values that the parent compares.
TEST_P(PromisesChild, DISABLED_Trains) {
  testing::print_digest(digest_of(GetParam()));
}

/// The same, but before the first step, and then after about every second step and batch of a scoring, the
/// number of threads is drawn again.
TEST_P(PromisesChild, DISABLED_TrainsWithChangingThreads) {
  const char* const draw = std::getenv("ENCORE_TEST_DRAW");
  std::minstd_rand random(draw != nullptr ? static_cast<unsigned>(std::atoi(draw)) : 1U);
  int changes = 0;
  testing::print_digest(digest_of(GetParam(), [&](const Device& device) {
    if (changes > 0 && random() % 2 == 0) return;
    kernels::use_host_threads(device, 1 + static_cast<int>(random() % static_cast<unsigned>(host_threads())),
                              kernels::Binding::any_place);
    ++changes;
  }));
  EXPECT_GT(changes, 5);
}

const auto name_of_case = [](const ::testing::TestParamInfo<Case>& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Cases, Promises, ::testing::ValuesIn(cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Cases, PromisesChild, ::testing::ValuesIn(cases()), name_of_case);

}  // namespace
}  // namespace encore::train
