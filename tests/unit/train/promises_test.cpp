// SPDX-License-Identifier: BSD-3-Clause
// Tests the promises of ten tasks with one small run of each case (promise_cases.hpp; Trainer,
// train/trainer.hpp): it learns; a stopped run ends with the bits of an unbroken one; threads change no bit,
// nor does recomputation in the backward pass; gradient shards are accepted, or rejected if a loss couples
// the sequences of a batch. The tests below Promises check what single tasks promise besides: tuned
// thresholds, class weights, causal models, windows. A new task adds its case to promise_cases.cpp.
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
#include "tasks/input_use.hpp"
#include "tasks/prediction_file.hpp"
#include "unit/record/temporary_folder.hpp"
#include "unit/train/promise_cases.hpp"

namespace encore::train {
namespace {

namespace fs = std::filesystem;
using testing::Recorder;
using testing::ScriptedControl;

/// A folder with the files of a case, removed at the end.
class CaseFolder {
 public:
  explicit CaseFolder(const PromiseCase& one)
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
  CaseFolder(const CaseFolder&) = delete;
  ~CaseFolder() { fs::remove_all(folder_); }

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
  const PromiseCase& case_;
  fs::path folder_;
};

/// Returns a hash of all digests and of the result of a run of two epochs.
std::string digest_of(const PromiseCase& one, const std::function<void(const Device&)>& between_steps = {}) {
  const Recorder recorded = CaseFolder(one).run(
      "whole",
      {"train.epochs=2", one.couples_batches ? "train.gradient_shards=1" : "train.gradient_shards=2"},
      ScriptedControl(), 3, between_steps);
  Sha256 hash;
  for (const auto& [what, sha256] : recorded.digests)
    hash.add(std::to_string(what.first) + what.second + sha256 + "\n");
  for (const auto& [name, value] : recorded.result) hash.add(name + " " + std::to_string(value) + "\n");
  return hash.hex();
}

class Promises : public ::testing::TestWithParam<PromiseCase> {};

TEST_P(Promises, ItLearns) {
  const Recorder recorded =
      CaseFolder(GetParam())
          .run("whole", {"train.epochs=" + std::to_string(GetParam().epochs), "model.dropout=0"});
  ASSERT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
  EXPECT_LT(recorded.steps.back().loss, recorded.steps.front().loss);
  EXPECT_GE(recorded.result.at(GetParam().measure), GetParam().at_least);
}

TEST_P(Promises, AStoppedRunEndsWithTheBitsOfOneThatWasNot) {
  const CaseFolder place(GetParam());
  const Recorder whole = place.run("whole");
  place.run("stopped", {}, ScriptedControl(17));
  const Recorder rest = place.run("stopped");
  ASSERT_FALSE(rest.digests.empty());
  for (const auto& [what, sha256] : rest.digests) EXPECT_EQ(sha256, whole.digests.at(what)) << what.first;
  EXPECT_EQ(rest.result, whole.result);
  // The injected change: another seed, so the rest of the run has another order of examples and other
  // dropout.
  place.run("reordered", {}, ScriptedControl(17));
  EXPECT_NE(place.run("reordered", {}, ScriptedControl(), 4).digests, rest.digests);
}

TEST_P(Promises, WhatTheBackwardPassComputesAgainHasTheSameBits) {
  const CaseFolder place(GetParam());
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

TEST_P(Promises, ShardsAndPrecisionsAreAcceptedAndLearn) {
  for (const char* setting : {"train.gradient_shards=3", "train.precision=\"bfloat16\""}) {
    if (GetParam().couples_batches && std::string(setting).starts_with("train.gradient_shards")) {
      EXPECT_THROW(CaseFolder(GetParam()).run("whole", {setting}), Error) << "its loss couples whole batches";
      continue;
    }
    const Recorder recorded = CaseFolder(GetParam()).run("whole", {setting});
    EXPECT_EQ(recorded.ending, record::Ending::completed) << setting << ": " << recorded.reason;
    EXPECT_LT(recorded.steps.back().loss, recorded.steps.front().loss) << setting;
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

/// That an order of sums by threads would be noticed is proved in tests/unit/model/threads_test.cpp.
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

const PromiseCase& case_of(const std::string& name) {
  return *std::ranges::find(promise_cases(), name, &PromiseCase::name);
}

/// The results at the end of a run equal those that any program computes after loading the weights, from the
/// weights file or the best checkpoint: the thresholds belong to these parameters.
TEST(TunedThresholds, BelongToTheChosenParameters) {
  const CaseFolder place(case_of("multilabel_tuned"));
  const Recorder recorded = place.run("whole", {"train.select=\"min dev/loss\""});
  ASSERT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
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
      EXPECT_EQ(value, recorded.result.at("test/" + name)) << name << " without " << gone;
  }
  const Recorder untuned =
      place.run("untuned", {"train.select=\"min dev/loss\"", "task.tune_thresholds=false"});
  EXPECT_NE(untuned.result.at("dev/micro_f1"), recorded.result.at("dev/micro_f1"));
  EXPECT_EQ(untuned.result.at("dev/loss"), recorded.result.at("dev/loss")) << "the parameters are the same";
  EXPECT_EQ(untuned.digests, recorded.digests);
}

/// A crf does not read class weights, and the linear head cannot smooth labels that have weights. Both are
/// refused before anything is trained.
TEST(ClassWeights, AreRefusedIfTheHeadDoesNotReadThem) {
  const CaseFolder place(case_of("tag_weighed"));
  EXPECT_EQ(testing::message_of<Error>([&] { place.run("crf", {"model.head.type=\"crf\""}); }),
            "the task \"tag\" weighs what is learned (the column \"weights\"), and the head "
            "\"crf\" does not read it; take the weights out of [task], or name a head that reads them");
  EXPECT_NE(testing::message_of<Error>([&] {
              place.run("smooth", {"train.label_smoothing=0.1"});
            }).find("the linear head cannot smooth labels if the task weighs them"),
            std::string::npos);
}

/// A model that is not causal would learn to copy the next token, which it sees.
TEST(LanguageModel, IsRefusedIfTheModelSeesItsTargets) {
  const CaseFolder place(case_of("lm"));
  EXPECT_EQ(testing::message_of<Error>([&] { place.run("seen", {"model.causal=false"}); }),
            "the target of each row is the token behind it, which this model sees and would only copy; set "
            "[model] causal = true");
}

/// The windows of a document are learned in different batches, and its score does not depend on that.
TEST(LanguageModel, LearnsFromTheWindowsOfATextOneByOne) {
  const CaseFolder place(case_of("lm"));
  const Recorder recorded = place.run("whole", {"train.epochs=1"});
  ASSERT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
  EXPECT_EQ(recorded.steps.size(), 12U) << "80 lines, 10 of them in two windows: 90 in batches of 8";
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
  EXPECT_NEAR(std::log(recorded.result.at("test/perplexity")), recorded.result.at("test/loss"), 1e-4);
}

/// Returns the first text of each line of a file.
std::vector<std::string> texts_in(const fs::path& file) {
  std::vector<std::string> texts;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) texts.push_back(line.substr(0, line.find('\t')));
  return texts;
}

/// Returns the answers as JSON, with the number of windows.
std::vector<std::string> answers_to(infer::Engine& engine, std::span<const std::string> texts) {
  const Records records = engine.task().from_text(texts);
  const tasks::EncodedSet set = engine.encode(records);
  const infer::Scores scores = engine.no_scores().empty() ? infer::Scores::with : infer::Scores::without;
  const Records answers = engine.answer(records, set, scores).answers;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < answers.size(); ++i)
    lines.push_back(
        tasks::answer_json(answers, i, tasks::members_of(tasks::input_use(engine.task(), set.set, i))));
  return lines;
}

class Windows : public ::testing::TestWithParam<std::string> {};

/// An input that fits is encoded as without the option, so no bit may differ.
TEST_P(Windows, ChangeNoBitOfAnInputThatFits) {
  const CaseFolder place(case_of(GetParam()));
  const Recorder without = place.run("without"), with = place.run("with", {"task.stride=3"});
  ASSERT_EQ(with.ending, record::Ending::completed) << with.reason;
  ASSERT_FALSE(with.digests.empty());
  EXPECT_EQ(with.digests, without.digests);
  EXPECT_EQ(with.result, without.result);
  const Device device;
  std::vector<std::vector<std::string>> answers;
  for (const char* run : {"without", "with"}) {
    const fs::path folder = place.folder() / run;
    infer::Engine engine(folder, record::Specification::load(folder).plugin_folders, device);
    answers.push_back(answers_to(engine, texts_in(place.folder() / "test.tsv")));
  }
  EXPECT_EQ(answers[0], answers[1]);
}

/// A text of several windows has the same answer alone and among others, and the answer says how many there
/// were. Without the option, it says what the model did not read.
TEST_P(Windows, AnswerALongTextAloneAsAmongOthers) {
  const CaseFolder place(case_of(GetParam() + "_windows"));
  const Device device;
  for (const bool windows : {true, false}) {
    const std::string run = windows ? "whole" : "cut";
    const Recorder recorded = place.run(run, {windows ? "task.stride=3" : "task.stride=0"});
    ASSERT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
    const fs::path folder = place.folder() / run;
    infer::Engine engine(folder, record::Specification::load(folder).plugin_folders, device);
    engine.make_batch_invariant();
    const std::vector<std::string> texts = texts_in(place.folder() / "test.tsv");
    const std::vector<std::string> together = answers_to(engine, texts);
    ASSERT_EQ(together.size(), 20U);
    std::size_t too_long = 0;
    for (std::size_t i = 0; i < together.size(); ++i) {
      if (std::string(ENCORE_BACKEND_NAME) == "openmp") {
        EXPECT_EQ(answers_to(engine, std::span(texts).subspan(i, 1)).at(0), together[i]);
      }
      const bool is_long = std::ranges::count(texts[i], ' ') >= 14;  // more words than a window has tokens
      too_long += is_long ? 1 : 0;
      const auto says = [&](const char* what) { return together[i].find(what) != std::string::npos; };
      EXPECT_EQ(says("\"windows\":2"), is_long && windows) << together[i];
      EXPECT_EQ(says("\"truncated\":\""), is_long && !windows) << together[i];
    }
    EXPECT_GT(too_long, 10U);
  }
}

INSTANTIATE_TEST_SUITE_P(OfATask, Windows, ::testing::Values("classify", "multilabel", "regress", "embed"),
                         [](const auto& info) { return info.param; });

class PromisesChild : public ::testing::TestWithParam<PromiseCase> {};

/// Runs in the child: prints the values that the parent compares.
TEST_P(PromisesChild, DISABLED_Trains) {
  testing::print_digest(digest_of(GetParam()));
}

/// Runs in the child, as Trains does, but draws the number of threads again before the first step and then
/// after about every second step, or batch of a scoring.
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

const auto name_of_case = [](const ::testing::TestParamInfo<PromiseCase>& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Cases, Promises, ::testing::ValuesIn(promise_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Cases, PromisesChild, ::testing::ValuesIn(promise_cases()), name_of_case);

}  // namespace
}  // namespace encore::train
