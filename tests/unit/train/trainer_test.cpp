// SPDX-License-Identifier: BSD-3-Clause
// Tests Trainer (train/trainer.hpp), the training loop, on a corpus of a few sentences: its reports,
// checkpoints, patience, starting from weights, and that a stop and a resume at any step change no bit.
// promises_test.cpp tests every task.
#include "train/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "base/load_file.hpp"
#include "infer/pretrained_weights.hpp"
#include "pretrained/content_hash.hpp"
#include "record/attention.hpp"
#include "record/checkpoint.hpp"
#include "record/weights_file.hpp"
#include "support/bert_folder.hpp"
#include "support/training_runs.hpp"
#include "unit/record/temporary_folder.hpp"
#include "world/atomic_file.hpp"

namespace encore::train {
namespace {

namespace fs = std::filesystem;
using testing::Recorder;
using testing::ScriptedControl;

class TrainerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("encore_trainer_" + std::to_string(::getpid()) + "_" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    testing::write_corpora(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  record::Specification specification(const std::vector<std::string>& overrides = {}) const {
    return testing::tiny_specification(folder_, overrides);
  }

  /// Runs one attempt in the run folder `name`.
  Recorder run(const std::string& name, const record::Specification& specification,
               ScriptedControl control = ScriptedControl(),
               const tasks::TokenCache& cache = tasks::TokenCache{fs::path()}) const {
    return testing::run_attempt(folder_ / name, specification, control, cache);
  }

  /// Returns the SHA-256 of parameters and optimizer states in the newest checkpoint, and its progress.
  std::map<std::string, std::string> newest_state(const std::string& name) const {
    const auto found = record::find_newest_checkpoint(folder_ / name);
    std::map<std::string, std::string> state = {{"progress", found->tensors.text("progress")}};
    for (const auto& [tensor, entry] : found->tensors.tensors())
      state[tensor] = std::string(reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size());
    return state;
  }

  fs::path folder_;
};

TEST_F(TrainerTest, ReportsEveryStepEveryEpochAndTheResult) {
  const Recorder recorded = run("run", specification());
  EXPECT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
  EXPECT_TRUE(recorded.resumptions.empty()) << "it begins at no checkpoint";
  ASSERT_EQ(recorded.steps.size(), 24u);  // 3 epochs of 60 sentences in batches of 8
  EXPECT_EQ(recorded.steps.back().step, 24);
  EXPECT_EQ(recorded.steps.back().epoch, 3);
  EXPECT_LT(recorded.steps.back().loss, recorded.steps.front().loss);
  EXPECT_EQ(recorded.values.at("dev/f1").size(), 3u);
  EXPECT_EQ(recorded.values.at("test/f1").size(), 1u);
  EXPECT_TRUE(recorded.result.contains("test/f1"));
  EXPECT_EQ(recorded.files, (std::vector<std::string>{"weights", "predictions/dev.jsonl", "reference",
                                                      "predictions/test.jsonl"}));
  for (std::int64_t step : {0, 1, 4, 8, 24})
    EXPECT_TRUE(recorded.digests.contains({step, "parameters"})) << step;
  EXPECT_FALSE(recorded.digests.contains({5, "parameters"}));
  for (const data::Split split : {data::Split::dev, data::Split::test}) {
    std::size_t before = 0;
    ASSERT_TRUE(recorded.scored.contains(split));
    for (const infer::EvaluationProgress& progress : recorded.scored.at(split)) {
      EXPECT_TRUE(progress.done > before || before == progress.all) << "grows, or starts again";
      EXPECT_FALSE(progress.writes);
      before = progress.done;
    }
    EXPECT_EQ(before, recorded.scored.at(split).back().all);
  }
}

TEST_F(TrainerTest, KeepsAttentionOfTheFirstExamplesWhereItIsAsked) {
  const Recorder plain = run("plain", specification());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "plain" / record::attention_file));
  const Recorder recorded = run("asked", specification({"train.show_attention=2"}));
  EXPECT_EQ(recorded.files, (std::vector<std::string>{"weights", "predictions/dev.jsonl", "reference",
                                                      "predictions/test.jsonl", "attention"}));
  EXPECT_EQ(recorded.digests, plain.digests) << "no bit of the training depends on it";
  EXPECT_EQ(recorded.result, plain.result);

  const std::string content = testing::read_bytes(folder_ / "asked" / record::attention_file);
  const record::AttentionTexts kept = record::AttentionTexts::parse(content);
  EXPECT_EQ(kept.step, recorded.best_step);
  ASSERT_EQ(kept.texts.size(), 2U);
  EXPECT_EQ(kept.texts[0].name, "example 1 of dev");
  EXPECT_EQ(kept.texts[1].name, "example 2 of dev");
  for (const record::AttentionText& text : kept.texts) {
    EXPECT_GT(text.tokens.size(), 2U);
    EXPECT_FALSE(text.layers.empty());
  }
  run("stopped", specification({"train.show_attention=2"}), ScriptedControl(9));
  run("stopped", specification({"train.show_attention=2"}));
  EXPECT_EQ(testing::read_bytes(folder_ / "stopped" / record::attention_file), content)
      << "resumed, the same bytes";
}

TEST_F(TrainerTest, KeepsTheBestAndTheNewestCheckpoint) {
  const Recorder recorded = run("run", specification());
  for (const record::CheckpointFile& file : record::list_checkpoints(folder_ / "run"))
    EXPECT_TRUE(file.step == 24 || file.step == recorded.best_step) << file.path;
}

TEST_F(TrainerTest, EqualSpecificationsGiveEqualDigests) {
  EXPECT_EQ(run("a", specification()).digests, run("b", specification()).digests);
}

/// Several epochs, ends within them, and stops that leave a batch unused.
TEST_F(TrainerTest, PackingTheNextBatchDuringAStepChangesNoBit) {
  const bool ahead = true, in_turn = false;
  const auto attempt = [&](const std::string& name, const bool& packs_ahead, int stop_after,
                           const std::vector<std::string>& overrides) {
    return testing::run_attempt(folder_ / name, specification(overrides), ScriptedControl(stop_after),
                                tasks::TokenCache{fs::path()}, {}, &packs_ahead);
  };
  for (const std::vector<std::string>& overrides :
       {std::vector<std::string>{}, {"train.steps=13"}, {"train.gradient_shards=3"}}) {
    const std::string name = "run" + std::to_string(overrides.size());
    const Recorder plain = attempt(name + "plain", in_turn, 0, overrides);
    const Recorder other = attempt(name + "ahead", ahead, 0, overrides);
    EXPECT_EQ(other.ending, record::Ending::completed) << other.reason;
    EXPECT_EQ(other.digests, plain.digests);
    EXPECT_EQ(other.result, plain.result);
    ASSERT_EQ(other.steps.size(), plain.steps.size());
    for (std::size_t i = 0; i < plain.steps.size(); ++i) {
      EXPECT_EQ(other.steps[i].loss, plain.steps[i].loss) << i;
      EXPECT_EQ(other.steps[i].tokens, plain.steps[i].tokens) << i;
    }
    attempt(name + "stopped", ahead, 5, overrides);
    attempt(name + "stopped", ahead, 0, overrides);
    EXPECT_EQ(newest_state(name + "stopped"), newest_state(name + "plain"));
  }
}

TEST_F(TrainerTest, AnotherSeedGivesOtherDigests) {
  EXPECT_NE(run("a", specification()).digests, run("b", specification({"seed=4"})).digests);
}

TEST_F(TrainerTest, StoppingAnywhereAndResumingChangesNoBit) {
  run("whole", specification());
  const auto whole = newest_state("whole");
  for (int stop_after : {1, 7, 8, 9, 23}) {
    const std::string name = "stopped" + std::to_string(stop_after);
    const Recorder first = run(name, specification(), ScriptedControl(stop_after));
    EXPECT_EQ(first.ending, record::Ending::interrupted);
    EXPECT_EQ(first.steps.size(), static_cast<std::size_t>(stop_after));
    const Recorder second = run(name, specification());
    EXPECT_EQ(second.ending, record::Ending::completed) << second.reason;
    EXPECT_EQ(second.steps.front().step, stop_after + 1);
    EXPECT_EQ(newest_state(name), whole) << "stopped after step " << stop_after;
    EXPECT_EQ(load_file(folder_ / name / record::weights_file, "file"),
              load_file(folder_ / "whole" / record::weights_file, "file"));
  }
}

TEST_F(TrainerTest, PausingAtTheRungsOfASearchChangesNoBit) {
  const record::Specification of = specification({"train.evaluate_every=4"});
  const Recorder whole = run("whole", of);
  // Steps within an epoch, at its end (its score is due too), before the resumed step, and never.
  std::size_t steps = 0;
  for (const std::int64_t rung : {4, 8, 8, 12, 40}) {
    Milestones milestones;
    milestones.pause_after_step = rung;
    const Recorder part = testing::run_attempt(folder_ / "paused", of, ScriptedControl(),
                                               tasks::TokenCache{fs::path()}, milestones);
    steps += part.steps.size();
    EXPECT_EQ(part.ending, rung < 24 ? record::Ending::interrupted : record::Ending::completed) << rung;
    EXPECT_EQ(steps, std::min<std::size_t>(static_cast<std::size_t>(rung), 24u));
    if (rung == 12) {
      ASSERT_EQ(part.resumptions.size(), 1u);
      EXPECT_EQ(part.resumptions[0].epoch, 1) << "step 8 ends the first epoch";
    }
    if (rung > 24) continue;
    EXPECT_EQ(part.reason, "trained as far as asked");
    if (!part.steps.empty()) {
      EXPECT_EQ(part.values.at("dev/f1").at(rung), whole.values.at("dev/f1").at(rung))
          << "a trial is judged by the score at its rung";
    }
  }
  EXPECT_EQ(newest_state("paused"), newest_state("whole"));
}

/// Settings of a model with the shape of a BERT of 16 channels.
const std::vector<std::string> bert_shape = {
    "model.positions=learned",   "model.max_positions=40",     "model.segments=2",
    "model.embedding_norm=true", "model.embedding_scale=none", "model.layer.feed_forward.activation=gelu"};

TEST_F(TrainerTest, ANewRunStartsFromTheWeightsOfAFolder) {
  record::Specification specified = specification(bert_shape);
  const Recorder donor = run("donor", specified);
  ASSERT_EQ(donor.ending, record::Ending::completed) << donor.reason;
  testing::write_bert_folder(folder_ / "bert",
                             record::Safetensors(folder_ / "donor" / record::weights_file).tensors(),
                             pretrained::PretrainedHead::classes);
  specified.data[record::pretrained_role] = {(folder_ / "bert").string(),
                                             pretrained::sha256_of_content(folder_ / "bert")};
  const Recorder whole = run("whole", specified);
  ASSERT_EQ(whole.ending, record::Ending::completed) << whole.reason;
  const std::string note = "model.from: 39 tensors taken";
  EXPECT_EQ(std::ranges::count(whole.logs, note), 1);
  EXPECT_EQ(whole.digests.at({0, "parameters"}), donor.digests.at({donor.best_step, "parameters"}));

  // A resumed run starts from its checkpoint, and ends with the bits of one that was never stopped.
  const Recorder first = run("stopped", specified, ScriptedControl(9));
  EXPECT_EQ(first.ending, record::Ending::interrupted);
  const Recorder second = run("stopped", specified);
  EXPECT_EQ(second.ending, record::Ending::completed) << second.reason;
  EXPECT_EQ(std::ranges::count(second.logs, note), 0);
  EXPECT_EQ(newest_state("stopped"), newest_state("whole"));

  testing::write_bert_folder(folder_ / "bert",
                             record::Safetensors(folder_ / "whole" / record::weights_file).tensors(),
                             pretrained::PretrainedHead::classes);
  EXPECT_EQ(testing::message_of<Error>([&] { run("changed", specified); }),
            (folder_ / "bert").string() +
                " (model.from) has changed since the run was planned; run the experiment file again");
}

/// Starts from the weights of a run that was trained in this folder.
void start_from(const fs::path& donor, record::Specification& specified) {
  specified.data[record::pretrained_role] = {(donor / record::weights_file).string(),
                                             pretrained::sha256_of_content(donor / record::weights_file)};
}

TEST_F(TrainerTest, ANewRunStartsFromTheWeightsOfARun) {
  const Recorder donor = run("donor", specification());
  ASSERT_EQ(donor.ending, record::Ending::completed) << donor.reason;
  record::Specification specified = specification({"seed=4"});
  start_from(folder_ / "donor", specified);
  const Recorder whole = run("whole", specified);
  ASSERT_EQ(whole.ending, record::Ending::completed) << whole.reason;
  const std::size_t tensors = record::Safetensors(folder_ / "donor" / record::weights_file).tensors().size();
  const std::string note = "model.from, step " + std::to_string(donor.best_step) +
                           " of donor: " + std::to_string(tensors) + " tensors taken";
  EXPECT_EQ(std::ranges::count(whole.logs, note), 1) << whole.logs.front();
  EXPECT_EQ(whole.digests.at({0, "parameters"}), donor.digests.at({donor.best_step, "parameters"}));
  EXPECT_EQ(load_file(folder_ / "whole" / "vocab.txt", "file"),
            load_file(folder_ / "donor" / "vocab.txt", "file"));

  // A resumed run needs neither the weights nor the vocabulary of the other one.
  const Recorder first = run("stopped", specified, ScriptedControl(9));
  EXPECT_EQ(first.ending, record::Ending::interrupted);
  fs::rename(folder_ / "donor", folder_ / "gone");
  const Recorder second = run("stopped", specified);
  EXPECT_EQ(second.ending, record::Ending::completed) << second.reason;
  EXPECT_EQ(newest_state("stopped"), newest_state("whole"));
}

TEST_F(TrainerTest, AHeadThatDoesNotFitIsNewAndTheRestIsTaken) {
  run("donor", specification());
  record::Specification specified = specification({"model.head.type=\"crf\""});
  start_from(folder_ / "donor", specified);
  const Recorder whole = run("whole", specified);
  ASSERT_EQ(whole.ending, record::Ending::completed) << whole.reason;
  const std::string& note = whole.logs.front();
  EXPECT_TRUE(note.starts_with("model.from, step ")) << note;
  EXPECT_NE(note.find("; head."), std::string::npos) << note;
  EXPECT_NE(note.find(" new"), std::string::npos) << note;
}

TEST_F(TrainerTest, RefusesWeightsThatDoNotFitOrHaveChanged) {
  run("donor", specification());
  const auto problem = [&](const std::string& name, const std::vector<std::string>& overrides,
                           const std::string& donor = "donor") {
    record::Specification specified = specification(overrides);
    start_from(folder_ / donor, specified);
    return testing::message_of<Error>([&] { run(name, specified); });
  };
  const std::string file = (folder_ / "donor" / record::weights_file).string();
  const std::string deep = problem("deep", {"model.layers=3"});
  EXPECT_TRUE(deep.starts_with(file + ": it lacks parameter \"encoder.2.")) << deep;
  const std::string shallow = problem("shallow", {"model.layers=1"});
  EXPECT_TRUE(shallow.starts_with(file + ": it holds \"encoder.1.")) << shallow;
  EXPECT_NE(problem("wide", {"model.width=32"}).find("embedding"), std::string::npos);

  fs::copy(folder_ / "donor", folder_ / "other", fs::copy_options::recursive);
  world::save_file(folder_ / "other" / "vocab.txt", "[PAD]\n");
  EXPECT_EQ(
      problem("vocabulary", {}, "other"),
      (folder_ / "other" / "vocab.txt").string() +
          " is not the vocabulary with which weights.safetensors beside it was written; put the file back");

  record::Specification planned = specification();
  start_from(folder_ / "donor", planned);
  planned.data[record::pretrained_role].sha256[0] =
      planned.data[record::pretrained_role].sha256[0] == '0' ? '1' : '0';
  EXPECT_EQ(testing::message_of<Error>([&] { run("changed", planned); }),
            file + " (model.from) has changed since the run was planned; run the experiment file again");
}

TEST_F(TrainerTest, StoppingAndResumingInBfloat16ChangesNoBit) {
  const record::Specification bfloat16 = specification({"train.precision=bfloat16"});
  const Recorder unbroken = run("whole", bfloat16);
  EXPECT_EQ(unbroken.ending, record::Ending::completed) << unbroken.reason;
  for (int stop_after : {1, 9, 23}) {
    const std::string name = "stopped" + std::to_string(stop_after);
    run(name, bfloat16, ScriptedControl(stop_after));
    const Recorder second = run(name, bfloat16);
    EXPECT_EQ(second.ending, record::Ending::completed) << second.reason;
    EXPECT_EQ(second.result, unbroken.result);
    EXPECT_EQ(newest_state(name), newest_state("whole")) << "stopped after step " << stop_after;
  }
}

TEST_F(TrainerTest, CheckpointsOfABfloat16RunHoldFloat32) {
  run("run", specification({"train.precision=bfloat16", "train.epochs=1"}));
  const auto found = record::find_newest_checkpoint(folder_ / "run");
  ASSERT_TRUE(found);
  for (const auto& [name, entry] : found->tensors.tensors()) EXPECT_EQ(entry.dtype, DType::float32) << name;
}

TEST_F(TrainerTest, Bfloat16LearnsAsFloat32Does) {
  const Recorder narrow = run("narrow", specification({"train.precision=bfloat16"}));
  const Recorder wide = run("wide", specification());
  ASSERT_EQ(narrow.steps.size(), wide.steps.size());
  for (std::size_t i = 0; i < wide.steps.size(); ++i)
    EXPECT_NEAR(narrow.steps[i].loss, wide.steps[i].loss, 0.1 * wide.steps[0].loss) << "step " << i + 1;
  EXPECT_NE(narrow.steps.back().loss, wide.steps.back().loss) << "otherwise the option had no effect";
}

TEST_F(TrainerTest, ResumingWithAnotherOrderIsSeenInTheBits) {
  run("whole", specification());
  run("stopped", specification(), ScriptedControl(5));
  // The injected reordering: the rest of the run draws its batches with another seed under the same question.
  record::Specification reordered = specification();
  reordered.seed = 99;
  run("stopped", reordered);
  EXPECT_NE(newest_state("stopped"), newest_state("whole"));
}

TEST_F(TrainerTest, GoesBackToTheCheckpointBeforeADamagedOne) {
  run("whole", specification());
  run("run", specification(), ScriptedControl(17));
  const auto files = record::list_checkpoints(folder_ / "run");
  ASSERT_GE(files.size(), 2u);
  fs::resize_file(folder_ / "run" / files.back().path, 1000);
  const Recorder recorded = run("run", specification());
  EXPECT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
  EXPECT_NE(recorded.logs.at(0).find("is skipped"), std::string::npos) << recorded.logs.at(0);
  EXPECT_EQ(newest_state("run"), newest_state("whole"));
}

TEST_F(TrainerTest, PatienceEndsARunThatStopsImproving) {
  const Recorder recorded =
      run("run", specification({"optimizer.learning_rate=1e-12", "train.epochs=9", "train.patience=2"}));
  EXPECT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
  EXPECT_EQ(recorded.steps.back().epoch, 3);  // the first epoch is the best, two more bring nothing
  EXPECT_EQ(recorded.best_step, 8);
}

/// Checks that of the evaluations with the best value of the metric, the run kept the one with the lowest
/// loss, and of equal losses the earliest. `was_tied` becomes true if there were several.
void expect_kept_by_loss(const Recorder& recorded, const std::string& metric, bool& was_tied) {
  const auto& values = recorded.values.at(metric);
  const auto& losses = recorded.values.at("dev/loss");
  const double kept = values.at(recorded.best_step);
  for (const auto& [step, value] : values) {
    if (std::isnan(value) != std::isnan(kept)) {
      EXPECT_TRUE(std::isnan(value)) << "step " << step << " has a value, but the kept one has none";
    } else if (value == kept || std::isnan(value)) {
      was_tied = was_tied || step != recorded.best_step;
      EXPECT_LE(losses.at(recorded.best_step), losses.at(step)) << step;
      EXPECT_TRUE(losses.at(step) > losses.at(recorded.best_step) || step <= recorded.best_step) << step;
    } else {
      EXPECT_LT(value, kept) << step;
    }
  }
}

/// Writes a development set of names that the training set does not have, or has with other labels only.
void write_rare_dev(const fs::path& file, unsigned seed) {
  std::ofstream out(file);
  for (unsigned i = 0; i < 8; ++i)
    out << "well\tO\n"
        << (seed % 3 == 0         ? "slept\tO\n"
            : (seed + i) % 2 == 0 ? "in\tB-PER\n"
                                  : "Mrs\tB-LOC\n")
        << "\n";
}

TEST_F(TrainerTest, KeepsTheLowestLossWhereTheMetricCannotChoose) {
  int tied = 0;
  for (unsigned seed = 1; seed <= 30; ++seed) {
    write_rare_dev(folder_ / "dev.conll", seed);
    record::Specification drawn =
        specification({"seed=" + std::to_string(seed), "train.evaluate_every=3", "train.epochs=2",
                       seed % 2 == 0 ? "optimizer.learning_rate=1e-4" : "optimizer.learning_rate=3e-2"});
    drawn.ties = record::Ties::loss;
    const Recorder recorded = run("run" + std::to_string(seed), drawn);
    ASSERT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
    bool was_tied = false;
    expect_kept_by_loss(recorded, "dev/f1", was_tied);
    tied += was_tied ? 1 : 0;
  }
  EXPECT_GE(tied, 20) << "the metric alone chooses";
}

TEST_F(TrainerTest, PatienceWaitsWhileTheLossOfTiesFalls) {
  // The only entity has a type that is never predicted, so that F1 is 0 at each evaluation.
  std::ofstream(folder_ / "dev.conll") << "well\tO\nslept\tO\n\nMrs\tB-UNSEEN\nslept\tO\n\n";
  const auto tied = [&](record::Ties ties) {
    record::Specification slow =
        specification({"optimizer.learning_rate=1e-5", "train.epochs=5", "train.patience=2"});
    slow.ties = ties;
    return run(ties == record::Ties::loss ? "loss" : "first", slow);
  };
  const Recorder by_loss = tied(record::Ties::loss), by_first = tied(record::Ties::first);
  ASSERT_EQ(by_loss.values.at("dev/f1").at(8), by_loss.values.at("dev/f1").at(40))
      << "the metric does not move";
  EXPECT_EQ(by_loss.best_step, 40);
  EXPECT_EQ(by_first.best_step, 8);
  EXPECT_EQ(by_first.steps.size(), 24U) << "as earlier versions stop";
}

TEST_F(TrainerTest, ScoresTheLastCheckpointOfDevOnce) {
  const auto begun = [](const Recorder& recorded) {
    return std::ranges::count_if(
        recorded.scored.at(data::Split::dev),
        [](const infer::EvaluationProgress& progress) { return progress.done == progress.all; });
  };
  record::Specification once = specification();
  once.ties = record::Ties::loss;
  const Recorder recorded = run("once", once);
  ASSERT_EQ(recorded.best_step, 24) << "the last checkpoint is the best one";
  EXPECT_EQ(begun(recorded), 3) << "after each epoch, and not again";
  // If it resumes after its last epoch, it has to score dev.
  std::filesystem::remove_all(folder_ / "once" / "predictions");
  const Recorder again = run("once", once);
  EXPECT_EQ(begun(again), 1);
  EXPECT_EQ(again.result, recorded.result);
}

TEST_F(TrainerTest, EvaluatesBetweenEpochsWhenAsked) {
  const Recorder recorded = run("run", specification({"train.evaluate_every=3", "train.epochs=1"}));
  const auto& scores = recorded.values.at("dev/f1");
  for (std::int64_t step : {3, 6, 8}) EXPECT_TRUE(scores.contains(step)) << step;
  EXPECT_EQ(scores.size(), 3u);
}

// --- train.steps and train.batch_tokens ---

TEST_F(TrainerTest, StepsEndTrainingWithinAnEpoch) {
  const Recorder recorded = run("run", specification({"train.steps=19"}));  // an epoch has 8
  EXPECT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
  ASSERT_EQ(recorded.steps.size(), 19U);
  EXPECT_EQ(recorded.steps.back().total_steps, 19);
  EXPECT_EQ(recorded.steps.back().epoch, 3);
  EXPECT_NEAR(recorded.steps.back().learning_rate, 3e-3 / 16, 1e-12) << "the last of 16 equal steps down";
  const std::map<std::int64_t, double>& scores = recorded.values.at("dev/f1");
  EXPECT_EQ(scores.size(), 3U);
  EXPECT_TRUE(scores.contains(8) && scores.contains(16) && scores.contains(19));
  EXPECT_TRUE(recorded.digests.contains({19, "parameters"}));
  EXPECT_EQ(recorded.checkpoints.back().step, 19);
  EXPECT_TRUE(recorded.result.contains("test/f1"));
}

TEST_F(TrainerTest, AsManyStepsAsSomeEpochsHaveAreTheSameTraining) {
  const Recorder epochs = run("epochs", specification({"train.epochs=2"}));
  const Recorder steps = run("steps", specification({"train.steps=16"}));
  EXPECT_EQ(steps.digests, epochs.digests);
  EXPECT_EQ(steps.result, epochs.result);
  EXPECT_EQ(steps.values, epochs.values);
}

TEST_F(TrainerTest, StoppingAnywhereBeforeTheLastStepAndResumingChangesNoBit) {
  for (const char* every : {"train.checkpoint_every=0", "train.checkpoint_every=19"}) {
    const record::Specification of = specification({"train.steps=19", every});
    const Recorder whole = run("whole", of);
    const auto state = newest_state("whole");
    for (int stop_after : {1, 8, 18, 19}) {
      const std::string name = "stopped" + std::to_string(stop_after);
      fs::remove_all(folder_ / name);
      EXPECT_EQ(run(name, of, ScriptedControl(stop_after)).ending, record::Ending::interrupted);
      const Recorder rest = run(name, of);
      EXPECT_EQ(rest.ending, record::Ending::completed) << rest.reason;
      EXPECT_EQ(rest.steps.size(), static_cast<std::size_t>(19 - stop_after));
      ASSERT_EQ(rest.resumptions.size(), 1u) << "also where no step is left";
      EXPECT_EQ(rest.resumptions[0].step, stop_after);
      EXPECT_EQ(rest.resumptions[0].total_steps, 19);
      EXPECT_EQ(rest.resumptions[0].epoch, (stop_after - 1) / 8 + 1);
      EXPECT_EQ(newest_state(name), state) << "stopped after step " << stop_after;
      EXPECT_EQ(rest.result, whole.result);
      EXPECT_TRUE(rest.values.at("dev/f1").contains(19)) << "the last epoch is scored once it has ended";
    }
    fs::remove_all(folder_ / "whole");
  }
}

TEST_F(TrainerTest, PatienceEndsARunOfStepsToo) {
  const Recorder recorded =
      run("run", specification({"train.steps=1000", "train.patience=2", "optimizer.learning_rate=1e-30"}));
  EXPECT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
  EXPECT_EQ(recorded.steps.size(), 24U) << "the first epoch is the best, two more are not better";
}

TEST_F(TrainerTest, BatchesByTokensAreWithinTheirLimitAndCountedBeforehand) {
  const Recorder recorded = run("run", specification({"train.batch_tokens=50"}));
  EXPECT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
  std::map<std::int64_t, std::int64_t> tokens;
  for (const StepReport& step : recorded.steps) {
    EXPECT_LE(step.tokens, 50);
    tokens[step.epoch] += step.tokens;
    EXPECT_EQ(step.total_steps, static_cast<std::int64_t>(recorded.steps.size()));
  }
  EXPECT_EQ(tokens.size(), 3U);
  EXPECT_EQ(tokens[1], tokens[2]) << "every epoch has all tokens";
  EXPECT_NEAR(recorded.steps.back().learning_rate, 3e-3 / static_cast<double>(recorded.steps.size() - 3),
              1e-12)
      << "the schedule knows how many steps there are";
  run("stopped", specification({"train.batch_tokens=50"}), ScriptedControl(11));
  run("stopped", specification({"train.batch_tokens=50"}));
  EXPECT_EQ(newest_state("stopped"), newest_state("run"));
}

TEST_F(TrainerTest, ALossThatIsNotFiniteFailsWithStepAndLayer) {
  const Recorder recorded =
      run("run", specification({"optimizer.learning_rate=1e30", "schedule={type=\"constant\"}"}));
  EXPECT_EQ(recorded.ending, record::Ending::failed);
  EXPECT_NE(recorded.reason.find("is not finite"), std::string::npos) << recorded.reason;
  EXPECT_NE(recorded.reason.find("it began in "), std::string::npos) << recorded.reason;
  EXPECT_NE(recorded.reason.find("last good checkpoint"), std::string::npos) << recorded.reason;
}

TEST_F(TrainerTest, ACheckpointGetsItsNameAfterItsRecordsAreSafe) {
  Recorder recorder;
  recorder.disk_full = true;
  fs::create_directories(folder_ / "run");
  const record::Specification specification = this->specification();
  specification.save(folder_ / "run");
  const Device device;
  ScriptedControl control;
  Session session(specification, folder_ / "run", 1, device);
  EXPECT_THROW(Trainer(session.parts(recorder, control)).run(), RecordError);
  EXPECT_GT(recorder.safe_steps, 0u);
  EXPECT_TRUE(record::list_checkpoints(folder_ / "run").empty())
      << "a resume would skip steps without records";
}

/// The fault is in the folder and not in the experiment: the run can resume after the folder was cleared.
TEST_F(TrainerTest, AFolderThatCannotBeMadeDoesNotFailTheExperiment) {
  fs::create_directories(folder_ / "run");
  std::ofstream(folder_ / "run" / "predictions") << "in the way";
  EXPECT_THROW(run("run", specification()), RecordError);
  fs::remove(folder_ / "run" / "predictions");
  EXPECT_EQ(run("run", specification()).ending, record::Ending::completed);
}

TEST_F(TrainerTest, AnAttemptThatLostItsRunWritesNoCheckpoint) {
  ScriptedControl control;
  control.owner = false;
  EXPECT_THROW(
      {
        try {
          run("run", specification(), control);
        } catch (const Error& error) {
          EXPECT_NE(std::string(error.what()).find("another attempt has taken over"), std::string::npos)
              << error.what();
          throw;
        }
      },
      RecordError);
  EXPECT_TRUE(record::list_checkpoints(folder_ / "run").empty());
}

TEST_F(TrainerTest, DataThatChangedAfterPlanningIsRefused) {
  const record::Specification planned = specification();
  testing::write_corpus(folder_ / "dev.conll", 60, 21);
  try {
    run("run", planned);
    FAIL() << "the changed file was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("dev.conll (dev) has changed since the run was planned"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(TrainerTest, VocabularyAndLabelsAreReplacedWholeNeverRewritten) {
  run("run", specification());
  for (const char* file : {"vocab.txt", "labels.txt"}) {
    fs::create_hard_link(folder_ / "run" / file, folder_ / file);
    EXPECT_EQ(fs::hard_link_count(folder_ / "run" / file), 2u);
  }
  run("run", specification());
  for (const char* file : {"vocab.txt", "labels.txt"}) {
    EXPECT_EQ(fs::hard_link_count(folder_ / "run" / file), 1u) << "a kill in between would leave half of it";
    EXPECT_EQ(load_file(folder_ / "run" / file, "file"), load_file(folder_ / file, "file"));
  }
}

TEST_F(TrainerTest, ReportsASetWithoutEntities) {
  std::ofstream(folder_ / "dev.conll") << "snow\tO\nhere\tO\n";
  const Recorder recorded = run("run", specification());
  EXPECT_NE(
      std::find(
          recorded.notes.begin(), recorded.notes.end(),
          "dev: no word belongs to an entity, so F1 is 0 for every model and cannot select a checkpoint"),
      recorded.notes.end());
}

TEST_F(TrainerTest, ARunFolderThatCannotBeWrittenDoesNotFailTheRun) {
  fs::create_directories(folder_ / "run" / "labels.txt" / "a");  // in the way of the file
  EXPECT_THROW(run("run", specification()), RecordError);
}

/// The run's folder is moved away between the last check of ownership and the action after it.
class MovedFolder final : public Control {
 public:
  MovedFolder(fs::path folder, int asked) : folder_(std::move(folder)), left_(asked) {}
  Request poll() override { return Request::none; }
  std::string why_not_owner() override {
    if (left_ == 0) return "the folder was moved";
    if (--left_ == 0) fs::rename(folder_, folder_.string() + "-elsewhere");
    return "";
  }

 private:
  fs::path folder_;
  int left_;
};

TEST_F(TrainerTest, AFolderThatIsMovedIsTheReasonWhateverFailsFirst) {
  for (const int asked :
       {1, 2, 3}) {  // before the file is written, before its new name, before the old ones go
    const std::string name = "run" + std::to_string(asked);
    fs::create_directories(folder_ / name);
    const Device device;
    Session session(specification(), folder_ / name, 1, device, tasks::TokenCache{fs::path()});
    Recorder recorder;
    MovedFolder control(folder_ / name, asked);
    try {
      Trainer(session.parts(recorder, control)).run();
      FAIL() << "a checkpoint was written into a removed folder";
    } catch (const RecordError& error) {
      EXPECT_STREQ(error.what(), "the folder was moved; this attempt ends without a checkpoint") << asked;
    }
    EXPECT_FALSE(fs::exists(folder_ / name)) << asked;
  }
}

TEST_F(TrainerTest, TheTokenCacheChangesNoBit) {
  const tasks::TokenCache cache(folder_ / "tokens");
  const Recorder without = run("without", specification());
  const Recorder cold = run("cold", specification(), ScriptedControl(), cache);
  const Recorder warm = run("warm", specification(), ScriptedControl(), cache);
  ASSERT_EQ(std::distance(fs::directory_iterator(folder_ / "tokens"), fs::directory_iterator()), 1);
  const fs::path kept = fs::directory_iterator(folder_ / "tokens")->path();
  fs::resize_file(kept, fs::file_size(kept) - 1);
  const Recorder damaged = run("damaged", specification(), ScriptedControl(), cache);
  const Recorder mended = run("mended", specification(), ScriptedControl(), cache);
  for (const Recorder* recorded : {&cold, &warm, &damaged, &mended}) {
    EXPECT_EQ(recorded->digests, without.digests);
    EXPECT_EQ(recorded->result, without.result);
    EXPECT_EQ(recorded->values, without.values);
  }
  for (const char* name : {"cold", "warm", "damaged", "mended"}) {
    EXPECT_EQ(newest_state(name), newest_state("without")) << name;
    for (const char* file :
         {"predictions/dev.jsonl", "reference.json", "predictions/test.jsonl", "vocab.txt", "labels.txt"})
      EXPECT_EQ(load_file(folder_ / name / file, "file"), load_file(folder_ / "without" / file, "file"))
          << name << file;
  }
  EXPECT_EQ(warm.notes, cold.notes);
  EXPECT_NE(damaged.notes.at(0).find("encoding again, because a file of the token cache is damaged"),
            std::string::npos);
  EXPECT_EQ(mended.notes, cold.notes);
}

TEST_F(TrainerTest, ShardsAreAddedInTheirOrder) {
  const Recorder one = run("one", specification());
  const Recorder two = run("two", specification({"train.gradient_shards=2"}));
  // Another order of summation: nearly the same numbers, other bits.
  EXPECT_NEAR(one.steps.front().loss, two.steps.front().loss, 1e-5);
  EXPECT_NE(one.digests.at({4, "parameters"}), two.digests.at({4, "parameters"}));
  EXPECT_EQ(two.digests, run("again", specification({"train.gradient_shards=2"})).digests);
}

}  // namespace
}  // namespace encore::train
