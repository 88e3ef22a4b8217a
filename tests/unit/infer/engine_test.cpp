// SPDX-License-Identifier: BSD-3-Clause
// Tests Engine (infer/engine.hpp), a trained model loaded from its run's folder for predict, evaluate, embed
// and serve: it must compute the bits that the trainer computed, from weights.safetensors or from a
// checkpoint, and nothing if a file is damaged or belongs to another run. The names of these files are stored
// and must stay. engine_fixture.hpp trains the run.
#include "infer/engine.hpp"

#include <cmath>
#include <fstream>

#include <encore/class_probabilities.hpp>
#include <nlohmann/json.hpp>

#include "tasks/prediction_file.hpp"
#include "unit/infer/engine_fixture.hpp"

namespace encore::infer {
namespace {

using namespace testing;

TEST_F(EngineTest, ScoresAsTheRunDidInEveryPrecision) {
  for (const std::string precision : {"float32", "bfloat16"}) {
    fs::remove_all(run_);
    fs::create_directory(run_);
    const Answer answer = train({"train.precision=" + precision});
    ASSERT_TRUE(answer.files.contains(record::weights_file));
    Engine loaded = engine();
    EXPECT_EQ(loaded.step(), answer.best_step);
    EXPECT_TRUE(loaded.notes().empty());
    EXPECT_NEAR(score_test_set(loaded).loss, answer.values.at("test/loss"), 1e-12) << precision;
  }
}

TEST_F(EngineTest, ARunWithoutAWeightsFileGivesEqualBits) {
  for (const std::string precision : {"float32", "bfloat16"}) {
    fs::remove_all(run_);
    fs::create_directory(run_);
    train({"train.precision=" + precision});
    Engine with = engine();
    fs::remove(run_ / record::weights_file);
    Engine without = engine();
    EXPECT_TRUE(without.notes().empty());
    EXPECT_EQ(with.step(), without.step());
    EXPECT_EQ(with.digest(), without.digest()) << precision;
    const Evaluation one = score_test_set(with), other = score_test_set(without);
    EXPECT_EQ(one.loss, other.loss) << precision;
    EXPECT_EQ(one.outputs.get(classes_output).integers, other.outputs.get(classes_output).integers)
        << precision;
  }
}

TEST_F(EngineTest, NeedsNeitherSpoolNorCheckpointOfAConcludedRun) {
  const Answer answer = train();
  fs::remove_all(run_ / "checkpoints");
  Engine loaded = engine();
  EXPECT_NEAR(score_test_set(loaded).loss, answer.values.at("test/loss"), 1e-12);
}

TEST_F(EngineTest, AnInterruptedRunIsLoadedFromItsCheckpoint) {
  train({}, 9);
  EXPECT_FALSE(fs::exists(run_ / record::weights_file));
  EXPECT_EQ(engine().step(), 8);
}

TEST_F(EngineTest, MemoryGrowsWithWhatComesAndChangesNoBit) {
  train();
  Engine grown = engine(), fresh = engine();
  const std::vector<std::string> lines = {"in Paris slept", "Mrs Jordan slept well well well well well"};
  const auto ask = [&](Engine& engine, std::span<const std::string> some) {
    return engine.run(engine.encode(engine.task().from_text(some))).outputs.get(classes_output).integers;
  };
  const auto first = ask(grown, std::span(lines).first(1));
  const auto both = ask(grown, lines);
  EXPECT_EQ(both, ask(fresh, lines));
  EXPECT_EQ(first, ask(grown, std::span(lines).first(1)));
}

/// The head is linear, so the mean of the logits of an input equals the logits of the mean of its states.
TEST_F(EngineTest, AVectorIsTheMeanOfTheStatesOfItsText) {
  train();
  Engine engine = this->engine();
  const std::vector<std::string> texts = {"in Paris slept"};
  engine.run(engine.encode(engine.task().from_text(texts)));
  const Tensor logits = engine.model().evaluation_tensor("head.logits");  // (N, K)
  const std::vector<double> scores = testing::to_host(device_, logits);
  const memory::ParameterBlock& parameters = engine.model().parameters();
  const std::vector<double> weight =
      testing::to_host(device_, parameters.adapted(parameters.find("head.weight")));
  const std::vector<double> bias =
      testing::to_host(device_, parameters.adapted(parameters.find("head.bias")));
  const Vectors vectors = engine.embed(texts);
  ASSERT_EQ(vectors.size(), 1u);
  const std::size_t classes = bias.size(), rows = scores.size() / classes;
  for (std::size_t k = 0; k < classes; ++k) {
    double mean = 0.0, score = bias[k];
    for (std::size_t row = 0; row < rows; ++row)
      mean += scores[row * classes + k] / static_cast<double>(rows);
    for (std::size_t c = 0; c < vectors.width; ++c)
      score += weight[k * vectors.width + c] * static_cast<double>(vectors[0][c]);
    EXPECT_NEAR(score, mean, 1e-5) << k;
  }
}

TEST_F(EngineTest, VectorsDependNeitherOnTheOrderNorOnEachOther) {
  train();
  Engine engine = this->engine();
  std::vector<std::string> texts = {"in Paris slept", "Mrs Jordan slept well", "well"};
  for (int i = 0; i < 20; ++i) texts.push_back("well well Mrs Florence slept in Paris");
  const Vectors all = engine.embed(texts);
  std::vector<std::string> reversed(texts.rbegin(), texts.rend());
  const Vectors backward = engine.embed(reversed);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Vectors alone = engine.embed(std::span(texts).subspan(i, 1));
    for (std::size_t c = 0; c < all.width; ++c) {
      EXPECT_NEAR(all[i][c], alone[0][c], 1e-5);
      EXPECT_NEAR(all[i][c], backward[texts.size() - 1 - i][c], 1e-5);
    }
  }
  EXPECT_EQ(engine.embed(texts).values, all.values);
}

std::string joined(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Windows of 8 tokens that share 3: a text of 14 tokens has [0, 8), [5, 13) and [10, 14), of which 7, 5 and
/// 2 tokens count.
TEST_F(EngineTest, TheVectorOfALongTextIsTheMeanOfItsWindows) {
  train({"task.stride=3", "data.max_length=10"});
  Engine engine = this->engine();
  engine.make_batch_invariant();
  std::vector<std::string> words;
  for (int i = 0; i < 14; ++i) words.emplace_back(i % 3 == 0 ? "well" : i % 3 == 1 ? "in" : "slept");
  const std::span<const std::string> all(words);
  const std::vector<std::string> texts = {joined(all), joined(all.first(8)), joined(all.subspan(5, 8)),
                                          joined(all.subspan(10))};
  const EncodedTexts encoded = engine.encode_texts(texts);
  ASSERT_EQ(encoded.set.sequence_count(), 6U) << "each word is a token";
  EXPECT_EQ(encoded.use(0).windows, 3U);
  EXPECT_EQ(encoded.use(0).left_out, "");
  EXPECT_EQ(encoded.use(1).windows, 1U);
  EXPECT_EQ(encoded.tokens(0), 8 + 8 + 4 + 3 * 2);
  const Vectors vectors = engine.embed(encoded);
  ASSERT_EQ(vectors.size(), 4U);
  double largest = 0.0;
  for (std::size_t c = 0; c < vectors.width; ++c) {
    EXPECT_NEAR(vectors[0][c], (7 * vectors[1][c] + 5 * vectors[2][c] + 2 * vectors[3][c]) / 14.0, 1e-6);
    largest = std::max(largest, std::abs(double{vectors[0][c]} - double{vectors[1][c]}));
  }
  EXPECT_GT(largest, 1e-3) << "the vector depends on the words behind the first window";
  const Vectors alone = engine.embed(std::span(texts).first(1));
  for (std::size_t c = 0; c < vectors.width; ++c) EXPECT_EQ(alone[0][c], vectors[0][c]);
}

TEST_F(EngineTest, WithoutAStrideALongTextIsCutAndSaysSo) {
  train({"data.max_length=10"});
  const Engine engine = this->engine();
  const EncodedTexts encoded = engine.encode_texts(
      std::vector<std::string>{"well well well well well well well well in slept", "well"});
  EXPECT_EQ(encoded.set.sequence_count(), 2U);
  EXPECT_EQ(encoded.use(0).left_out, "its vector does not depend on its last 2 tokens");
  EXPECT_EQ(tasks::members_of(encoded.use(0)).dump(),
            R"({"truncated":"its vector does not depend on its last 2 tokens"})");
  EXPECT_EQ(tasks::members_of(encoded.use(1)).dump(), "{}");
}

TEST_F(EngineTest, ABatchInvariantTextHasTheSameBitsInAnyCompany) {
  if (std::string(ENCORE_BACKEND_NAME) != "openmp") GTEST_SKIP() << "promised on the host only";
  train();
  Engine engine = this->engine(), other = this->engine();
  engine.make_batch_invariant();
  std::vector<std::string> texts;
  for (std::size_t words = 1; words <= 40; ++words) {
    texts.emplace_back("Paris");
    for (std::size_t word = 1; word < words; ++word) texts.back() += word % 3 == 0 ? " in" : " Florence";
  }
  const Vectors all = engine.embed(texts), expected = other.embed(texts);
  ASSERT_EQ(all.values.size(), expected.values.size());
  for (std::size_t i = 0; i < all.values.size(); ++i)
    ASSERT_NEAR(all.values[i], expected.values[i], 1e-4) << i;
  const std::size_t width = all.values.size() / texts.size();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Vectors alone = engine.embed(std::span(texts).subspan(i, 1));
    ASSERT_EQ(alone.values.size(), width);
    for (std::size_t k = 0; k < width; ++k) ASSERT_EQ(alone.values[k], all.values[i * width + k]) << texts[i];
  }
}

/// With a linear head, the score of an entity of one word is the softmax of the head's logits in its row.
TEST_F(EngineTest, ScoresOfALinearHeadAreTheSoftmaxOfItsLogits) {
  train({"train.epochs=12"});
  Engine engine = this->engine();
  const std::vector<std::string> texts = {"in Paris slept"};
  const Records records = engine.task().from_text(texts);
  const tasks::EncodedSet set = engine.encode(records);
  const Records answers = engine.answer(records, set, Scores::with).answers;
  const std::vector<double> logits =
      testing::to_host(device_, engine.model().evaluation_tensor("head.logits"));
  ASSERT_EQ(answers.spans("entities").at(0).size(), 1U);
  const TextSpan& entity = answers.spans("entities")[0][0];
  const std::size_t classes = engine.task().labels().size(), row = 2;  // [CLS] in Paris
  ASSERT_EQ(entity.text, "Paris");
  double most = -1e9, sum = 0.0;
  for (std::size_t k = 0; k < classes; ++k) most = std::max(most, logits[row * classes + k]);
  for (std::size_t k = 0; k < classes; ++k) sum += std::exp(logits[row * classes + k] - most);
  EXPECT_NEAR(entity.score.value(), 1.0 / sum, 1e-12) << "the class is the one with the largest logit";
  EXPECT_EQ(entity.score, entity.least_score) << "of one word";
}

std::vector<std::string> answer_lines(Engine& engine, std::span<const std::string> texts, Scores scores) {
  const Records records = engine.task().from_text(texts);
  const Records answers = engine.answer(records, engine.encode(records), scores).answers;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < answers.size(); ++i) lines.push_back(tasks::answer_json(answers, i));
  return lines;
}

TEST_F(EngineTest, ScoresAreAddedOnRequestAndChangeNoOtherBit) {
  for (const std::string head : {"linear", "crf"}) {
    fs::remove_all(run_);
    fs::create_directory(run_);
    train({"train.epochs=12", "model.head.type=" + head});
    Engine asked = this->engine(), fresh = this->engine();
    for (Engine* each : {&asked, &fresh}) each->make_batch_invariant();
    const std::vector<std::string> texts = {"in Paris slept", "Mrs Jordan slept well",
                                            "well well in Florence"};
    const std::vector<std::string> plain = answer_lines(fresh, texts, Scores::without);
    const std::vector<std::string> scored = answer_lines(asked, texts, Scores::with);
    EXPECT_EQ(answer_lines(asked, texts, Scores::without), plain) << head;
    EXPECT_EQ(answer_lines(fresh, texts, Scores::with), scored) << head;
    std::size_t found = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(plain[i].find("score"), std::string::npos) << plain[i];
      found += scored[i].find("\"least_score\":") != std::string::npos ? 1 : 0;
      const std::vector<std::string> alone =
          answer_lines(asked, std::span(texts).subspan(i, 1), Scores::with);
      EXPECT_EQ(alone.at(0), scored[i]) << head << ": does not depend on the rest of the batch";
    }
    EXPECT_GT(found, 1U) << head;
    const tasks::EncodedSet set = asked.encode(asked.task().from_text(texts));
    EXPECT_THROW(asked.run(set).outputs.get(marginals_output), Error) << "computed on request only";
  }
}

TEST_F(EngineTest, PredictsAsBeforeAfterVectors) {
  train();
  Engine engine = this->engine();
  const double before = score_test_set(engine).loss;
  engine.embed(std::vector<std::string>(50, "well well well well well well well well Mrs Florence slept"));
  EXPECT_EQ(score_test_set(engine).loss, before);
}

TEST_F(EngineTest, NoVectorOfATextWithoutTokens) {
  train();
  Engine engine = this->engine();
  const std::vector<std::string> texts = {"in Paris", " "};
  EXPECT_EQ(message_of<Error>([&] { engine.embed(texts); }),
            "the text \" \" has no tokens, so it has no vector");
}

TEST_F(EngineTest, DamagedWeightsArePassedOverForTheCheckpoint) {
  train();
  Engine whole = engine();
  const Evaluation before = score_test_set(whole);
  damage(run_ / record::weights_file);
  Engine loaded = engine();
  ASSERT_EQ(loaded.notes().size(), 1u);
  EXPECT_TRUE(
      loaded.notes()[0].starts_with(file(record::weights_file) + ": tensor \"head.bias\" is damaged: "))
      << loaded.notes()[0];
  EXPECT_TRUE(loaded.notes()[0].ends_with("; using the best checkpoint, that of step " +
                                          std::to_string(loaded.step()) + ", in its place"))
      << loaded.notes()[0];
  EXPECT_EQ(score_test_set(loaded).loss, before.loss);

  fs::remove_all(run_ / "checkpoints");
  EXPECT_TRUE(refusal().ends_with("; and " + run_.string() +
                                  " holds no checkpoint; put the file back, or train the "
                                  "run again (exp run FILE --fresh)"))
      << refusal();
}

TEST_F(EngineTest, WeightsOfAnotherQuestionAreRefused) {
  train({"seed=4"});
  fs::copy_file(run_ / record::weights_file, folder_ / "other");
  fs::remove_all(run_);
  fs::create_directory(run_);
  train();
  fs::remove(run_ / record::weights_file);
  fs::copy_file(folder_ / "other", run_ / record::weights_file);
  EXPECT_TRUE(refusal().starts_with(file(record::weights_file) + " belongs to another experiment (question "))
      << refusal();
  EXPECT_TRUE(
      refusal().ends_with("put the run's own file back, or remove it: then the best checkpoint is used"));
}

TEST_F(EngineTest, LabelsInAnotherOrderAreRefused) {
  train();
  const std::string labels = load_file(run_ / knowledge_file, "labels");
  const std::size_t first = labels.find('\n') + 1, second = labels.find('\n', first) + 1;
  write_bytes(run_ / knowledge_file,
              labels.substr(first, second - first) + labels.substr(0, first) + labels.substr(second));
  EXPECT_EQ(refusal(),
            file(knowledge_file) +
                " has changed since the run ended: its SHA-256 is not the one in "
                "weights.safetensors, and its lines give rows of the parameters their meaning; put the file "
                "back, or train the run again (exp run FILE --fresh)");
  write_bytes(run_ / knowledge_file, labels);
  EXPECT_EQ(refusal(), "no error");
}

TEST_F(EngineTest, AVocabularyInAnotherOrderIsRefused) {
  train();
  const std::string tokens = load_file(run_ / vocabulary_file, "vocabulary");
  const std::size_t last = tokens.rfind('\n', tokens.size() - 2) + 1;
  const std::size_t before = tokens.rfind('\n', last - 2) + 1;
  write_bytes(run_ / vocabulary_file,
              tokens.substr(0, before) + tokens.substr(last) + tokens.substr(before, last - before));
  EXPECT_TRUE(refusal().starts_with(file(vocabulary_file) + " has changed since the run ended: "))
      << refusal();
}

TEST_F(EngineTest, DamagedLabelsAreNamedByTheirFile) {
  train();
  const auto refused = [&](const std::string& labels) {
    write_bytes(run_ / knowledge_file, labels);
    return refusal();
  };
  EXPECT_EQ(refused(""), file(knowledge_file) + ": a list of labels needs at least one label");
  EXPECT_EQ(refused("O\nB-PER\nO\n"), file(knowledge_file) + ": the list of labels names \"O\" twice");
  fs::remove(run_ / record::weights_file);
  EXPECT_NE(refused("O\nB-PER\n"), "no error") << "the head has another number of classes";
}

}  // namespace
}  // namespace encore::infer
