// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp quantize`: quantize() chooses which matrices of a model become integers of 8 or 4 bits within a
// tolerance (infer/quantization.hpp), and the file of the result (infer/integer_weights.hpp) gives, bit for
// bit, the model that was measured. A file that is damaged, or made from other weights, must be rejected.
// Only the host has products with integers, so other backends skip this test.
#include "infer/integer_weights.hpp"

#include "infer/quantization.hpp"
#include "unit/infer/engine_fixture.hpp"

namespace encore::infer {
namespace {

using namespace testing;

/// A tolerance above every loss that rounding can cause, so that all matrices become integers.
constexpr double any_loss = 10.0;

class Int8Test : public EngineTest {
 protected:
  void SetUp() override {
    if (std::string(ENCORE_BACKEND_NAME) != "openmp") GTEST_SKIP() << "integer weights are for the host";
    EngineTest::SetUp();
  }
  tasks::EncodedSet sample(Engine& engine) const {
    return engine.encode(
        tasks::read_set(engine.reader(), {(folder_ / "dev.conll").string()}, "development set").records);
  }
  /// Quantizes the trained run and writes its file, as the worker's quantize verb does. rounded_loss_ is then
  /// the loss of the rounded model.
  Quantization write(const QuantizationOptions& options = {}) {
    Engine engine = this->engine(Weights::copied);
    const tasks::EncodedSet set = sample(engine);
    Quantization found = quantize(engine, loss_on(engine, set), options);
    rounded_loss_ = engine.loss(set);
    save_integer_weights(run_, options.bits == 4 ? record::int4_weights_file : record::int8_weights_file,
                         engine.model(), found.stored(),
                         {.question = record::Specification::load(run_).question,
                          .step = engine.step(),
                          .int8 = found.products(),
                          .made_from = engine.digest()});
    return found;
  }
  std::string refused(const QuantizationOptions& options) {
    return message_of<Error>([&] { write(options); });
  }
  std::string int8_file() const { return file(record::int8_weights_file); }

  double rounded_loss_ = 0.0;
};

TEST_F(Int8Test, ScoresOfAnswersAreNearThoseOfTheUnroundedModel) {
  for (const std::string head : {"linear", "crf"}) {
    fs::remove_all(run_);
    fs::create_directory(run_);
    train({"train.epochs=12", "model.head.type=" + head});
    write({.tolerance = any_loss});
    const auto score = [&](Weights weights) {
      Engine engine = this->engine(weights);
      const std::vector<std::string> texts = {"in Paris slept"};
      const Records records = engine.task().from_text(texts);
      const Records answers = engine.answer(records, engine.encode(records), Scores::with).answers;
      return answers.spans("entities").at(0).at(0).score.value();
    };
    EXPECT_NEAR(score(Weights::int8), score(Weights::chosen), 0.1) << head;
    EXPECT_NE(score(Weights::int8), score(Weights::chosen)) << head;
  }
}

TEST_F(Int8Test, TheFileGivesTheModelThatWasMeasured) {
  for (const std::string precision : {"float32", "bfloat16"}) {
    fs::remove_all(run_);
    fs::create_directory(run_);
    train({"train.precision=" + precision});
    const Quantization found = write({.tolerance = any_loss});
    EXPECT_EQ(found.quantized_cost, rounded_loss_) << precision;
    EXPECT_NE(found.quantized_cost, found.cost) << precision;
    Engine read = engine(Weights::int8);
    EXPECT_EQ(read.loss(sample(read)), rounded_loss_) << precision;
    EXPECT_EQ(read.model().quantized_products(), found.products()) << precision;
    Engine chosen = engine();
    EXPECT_EQ(read.step(), chosen.step());
    EXPECT_NE(read.digest(), chosen.digest());
    EXPECT_EQ(chosen.loss(sample(chosen)), found.cost) << precision;
  }
}

TEST_F(Int8Test, OnlyMatricesOfProductsAndTablesOfTokensAreRounded) {
  train();
  const Quantization found = write({.tolerance = any_loss});
  ASSERT_FALSE(found.matrices.empty());
  Engine model = engine();
  for (const QuantizedMatrix& matrix : found.matrices) {
    const memory::ParameterSlice& slice = model.model().parameters().find(matrix.path);
    EXPECT_EQ(slice.spec.shape.size(), 2U) << matrix.path;
    EXPECT_EQ(matrix.product, !slice.spec.token_rows) << matrix.path;
    EXPECT_FALSE(matrix.kept());
  }
}

TEST_F(Int8Test, TheFileOfFourBitsGivesTheModelThatWasMeasured) {
  for (const std::string precision : {"float32", "bfloat16"}) {
    fs::remove_all(run_);
    fs::create_directory(run_);
    train({"train.precision=" + precision});
    const Quantization found = write({.bits = 4, .tolerance = any_loss});
    for (const QuantizedMatrix& matrix : found.matrices) EXPECT_EQ(matrix.bits, 4) << matrix.path;
    Engine read = engine(Weights::int4);
    EXPECT_EQ(read.loss(sample(read)), rounded_loss_) << precision;
    EXPECT_EQ(read.model().quantized_products(), found.products()) << precision;
    const Quantization bytes = write({.tolerance = any_loss});
    EXPECT_NE(found.quantized_cost, bytes.quantized_cost) << precision;
    EXPECT_LT(fs::file_size(file(record::int4_weights_file)), fs::file_size(int8_file())) << precision;
  }
}

TEST_F(Int8Test, MatricesThatFourBitsHarmGetEight) {
  train();
  const std::vector<std::string> texts = {"Anna lives in Lund", "Berg met Anna"};
  const auto quantized = [&](int bits, double tolerance) {
    Engine engine = this->engine(Weights::copied);
    const EncodedTexts encoded = engine.encode_texts(texts);
    return quantize(engine, distance_of(engine, encoded), {.bits = bits, .tolerance = tolerance});
  };
  const double four = quantized(4, any_loss).quantized_cost, eight = quantized(8, any_loss).quantized_cost;
  ASSERT_GT(four, eight);
  // With a tolerance between the costs of four and of eight bits, some matrices get eight bits and none stays
  // unrounded.
  const double between = (four + eight) / 2;
  const Quantization mixed = quantized(4, between);
  std::map<int, int> count;
  for (const QuantizedMatrix& matrix : mixed.matrices) {
    ++count[matrix.bits];
    EXPECT_TRUE(matrix.growth.has_value());
  }
  EXPECT_GT(count[4], 0);
  EXPECT_GT(count[8], 0);
  EXPECT_EQ(count[0], 0);
  EXPECT_LE(mixed.quantized_cost, between);
  // With a tolerance below both costs, some matrices stay unrounded.
  const Quantization strict = quantized(4, eight / 2);
  EXPECT_TRUE(std::ranges::any_of(strict.matrices, &QuantizedMatrix::kept));
  EXPECT_LE(strict.quantized_cost, eight / 2);

  Engine engine = this->engine(Weights::copied);
  const EncodedTexts encoded = engine.encode_texts(texts);
  static_cast<void>(quantize(engine, distance_of(engine, encoded), {.bits = 4, .tolerance = between}));
  save_integer_weights(run_, record::int4_weights_file, engine.model(), mixed.stored(),
                       {.question = record::Specification::load(run_).question,
                        .step = engine.step(),
                        .int8 = mixed.products(),
                        .made_from = engine.digest()});
  Engine read = this->engine(Weights::int4);
  EXPECT_EQ(read.embed(encoded).values, engine.embed(encoded).values) << "of both kinds in one file";
}

TEST_F(Int8Test, MatricesThatHarmOrAreNamedStayUnrounded) {
  train();
  // The loss may not grow at all: the matrices that increase it most stay unrounded, one by one, until the
  // rest does not increase it.
  const Quantization strict = write({.tolerance = 0.0});
  EXPECT_LE(strict.quantized_cost, strict.cost);
  EXPECT_LT(strict.stored().size(), strict.matrices.size());
  for (const QuantizedMatrix& matrix : strict.matrices) EXPECT_TRUE(matrix.growth.has_value());
  const std::string some = strict.matrices.front().path;
  const Quantization named = write({.tolerance = any_loss, .keep = {some.substr(0, some.find('.'))}});
  EXPECT_FALSE(named.stored().contains(some));
  EXPECT_FALSE(named.stored().empty());
  const std::string refusal = refused({.keep = {"nothing"}});
  EXPECT_TRUE(refusal.starts_with("--keep nothing names no matrix that could become integers; there are "))
      << refusal;
  EXPECT_TRUE(refusal.find(some) != std::string::npos) << refusal;
}

TEST_F(Int8Test, AFileThatIsMissingDamagedOrOfOtherWeightsIsRefused) {
  train();
  EXPECT_EQ(refusal(Weights::int8), int8_file() + " is missing; exp quantize writes it again");
  EXPECT_EQ(refusal(Weights::int4),
            file(record::int4_weights_file) + " is missing; exp quantize --bits 4 writes it again");
  write({.tolerance = any_loss});
  const std::string whole = read_bytes(int8_file());
  damage(int8_file());
  EXPECT_TRUE(refusal(Weights::int8)
                  .ends_with("is not the one that was written with it; exp quantize writes it again"))
      << refusal(Weights::int8);
  write_bytes(int8_file(), whole.substr(0, 100));
  EXPECT_TRUE(refusal(Weights::int8).ends_with("; exp quantize writes it again")) << refusal(Weights::int8);
  write_bytes(int8_file(), whole);
  EXPECT_EQ(refusal(Weights::int8), "no error");

  // The run gets other weights: one bit of them is flipped. A training with another seed would be another
  // run.
  record::WeightsFile file(run_);
  std::vector<record::TensorSlice> tensors;
  std::map<std::string, std::vector<std::byte>> bytes;
  for (const auto& [name, entry] : file.tensors().tensors()) {
    bytes[name].assign(entry.bytes.begin(), entry.bytes.end());
    tensors.push_back({name, entry.dtype, entry.shape, bytes[name]});
  }
  bytes.begin()->second.front() ^= std::byte{1};
  record::save_weights(run_, tensors, file.facts(), 1);
  EXPECT_EQ(refusal(Weights::int8), int8_file() +
                                        " was made from other weights than the run has now; "
                                        "exp quantize writes it again");
}

TEST_F(Int8Test, AFileWithoutScalesIsRefused) {
  train();
  write({.tolerance = any_loss});
  const record::WeightsFile file(run_, record::int8_weights_file);
  std::vector<record::TensorSlice> tensors;
  for (const auto& [name, entry] : file.tensors().tensors())
    if (!name.ends_with("/scales")) tensors.push_back({name, entry.dtype, entry.shape, entry.bytes});
  record::WeightsFacts facts = file.facts();
  facts.tensors.clear();
  record::save_weights(run_, tensors, facts, 1, {}, record::int8_weights_file);
  EXPECT_TRUE(refusal(Weights::int8).find("/scales\" does not have one scale for each of its rows") !=
              std::string::npos)
      << refusal(Weights::int8);
}

TEST_F(Int8Test, VectorsMeasureTheCostIfThereIsNoSet) {
  train();
  Engine model = engine(Weights::copied);
  const EncodedTexts texts =
      model.encode_texts(std::vector<std::string>{"in Paris slept", "Mrs Jordan slept"});
  const Quantization found = quantize(model, distance_of(model, texts), {.tolerance = 0.5});
  EXPECT_NEAR(found.cost, 0.0, 1e-12);
  EXPECT_GT(found.quantized_cost, 0.0);
  EXPECT_LT(found.quantized_cost, 0.05);
}

TEST_F(Int8Test, AModelInFloat64IsRefused) {
  train({"train.precision=float64"});
  EXPECT_EQ(refused({}),
            "this model computes in float64, and integers go with float32 and bfloat16 activations");
}

}  // namespace
}  // namespace encore::infer
