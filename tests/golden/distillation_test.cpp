// SPDX-License-Identifier: BSD-3-Clause
// Tests Model::learn_from (model/model.hpp), a tiny model that learns from another one, against the numbers
// of PyTorch in distillation.json (make_distillation.py writes it): the loss and every gradient in double
// within 1e-9. Also against finite differences, with and without shards, and the refusal of teachers that do
// not fit.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "config/error.hpp"
#include "kernels/products/gemm.hpp"
#include "support/places.hpp"
#include "support/tiny_model.hpp"

namespace encore::testing {
namespace {

using nlohmann::json;

constexpr std::uint64_t first_of_teacher = 1001;

json load_cases() {
  std::ifstream file(std::string(ENCORE_SOURCE_DIR) + "/tests/golden/distillation.json");
  return json::parse(file);
}

/// Sets the parameters to the values of make_golden.py: each comes from a generator that is seeded by `first`
/// plus its place in the order of paths.
void set_parameters(const Device& device, model::Model& model, std::uint64_t first) {
  for (const memory::ParameterSlice& slice : model.parameters().slices()) {
    Numbers numbers(first++);
    const bool gain = slice.path.ends_with("gain");
    std::vector<double> values(static_cast<std::size_t>(slice.size));
    for (double& value : values) value = gain ? 1.0 + 0.25 * numbers.symmetric() : 0.5 * numbers.symmetric();
    to_device(device, values, memory::ParameterBlock::slice(model.parameters().values(), slice));
  }
  model.parameters().values_changed();
}

struct DistillationTest : ::testing::Test {
  config::Experiment teacher_experiment(config::Precision precision = config::Precision::float64) const {
    config::Experiment experiment = tiny_experiment(registry);
    experiment.train.precision = precision;
    experiment.model.head.options.set("residual_norm", true);
    experiment.model.norm_position = config::NormPosition::pre;
    experiment.model.positions = config::Positions::learned;
    experiment.model.block[1].options.set("activation", std::string("gelu"));
    experiment.model.dropout = 0.5;  // must not be applied
    return experiment;
  }
  config::Experiment student_experiment(double temperature, double hard_weight,
                                        double smoothing = 0.0) const {
    config::Experiment experiment = tiny_experiment(registry);
    experiment.train.label_smoothing = smoothing;
    experiment.distil =
        config::DistilTable{.scores = {.temperature = temperature, .hard_weight = hard_weight}};
    return experiment;
  }
  std::unique_ptr<model::Model> make_teacher(const config::Experiment& experiment,
                                             const model::ModelSize& size = tiny_size()) const {
    auto teacher = std::make_unique<model::Model>(experiment, size, registry, device, memory::Use::inference);
    set_parameters(device, *teacher, first_of_teacher);
    return teacher;
  }

  Device device;
  plugin_host::Registry registry = load_builtin_plugins();
};

TEST_F(DistillationTest, LossAndGradientsAreThoseOfPyTorch) {
  const auto teacher = make_teacher(teacher_experiment());
  for (const json& wanted : load_cases()) {
    const std::string name = wanted.at("name").get<std::string>();
    TinyModel student(
        student_experiment(wanted.at("temperature"), wanted.at("hard_weight"), wanted.at("smoothing")),
        tiny_size(), registry, device, tiny_batch());
    set_parameters(device, student.model, 1);
    student.model.learn_from(*teacher);
    student.model.plan(tiny_batch().size(), tiny_batch().size());
    EXPECT_NEAR(student.loss({1, 1}), wanted.at("loss").get<double>(), 1e-9) << name;
    for (const memory::ParameterSlice& slice : student.model.parameters().slices()) {
      const auto expected = wanted.at("gradients").at(slice.path).get<std::vector<double>>();
      const std::vector<double> gradient = student.gradient(slice);
      ASSERT_EQ(gradient.size(), expected.size());
      for (std::size_t i = 0; i < gradient.size(); ++i)
        ASSERT_NEAR(gradient[i], expected[i], 1e-9) << name << ", " << slice.path << "[" << i << "]";
    }
  }
}

/// Returns the size of a student whose head reads whole sequences; batch_of_texts() returns a batch for it.
model::ModelSize size_of_texts() {
  model::ModelSize size = tiny_size();
  size.columns = {{.name = targets_column, .space = Space::sequences, .truth = true}};
  size.outputs = {{.name = classes_output, .space = Space::sequences}};
  return size;
}
data::PackedBatch batch_of_texts() {
  data::PackedBatch batch = tiny_batch();
  batch.columns[0].integers = {1, 0, 4, 2};
  batch.weights = {4.0};
  return batch;
}

/// Computes what Model::learn_from needs: the loss of the rows is divided by their number.
void scale_rows_too(TinyModel& student) {
  student.scales.push_back(1.0 / static_cast<double>(student.batch.size().tokens));
}

/// What a student learns besides the scores: nothing, or relations of states and of queries, keys and values;
/// and the kind of model.
struct RelationCase {
  config::Relations relations = {};
  config::NormPosition norm = config::NormPosition::post;
  const char* attention = "self_attention";
  bool final_norm = true;    ///< where the norm comes before the layers
  bool whole_texts = false;  ///< the head reads the first row of each sequence
};
const std::vector<RelationCase> relation_cases = {
    {},
    {{.states = 0.7, .attention = 1.3, .heads = 2}},
    {{.states = 0.7, .heads = 1}, config::NormPosition::pre},
    {{.attention = 1.3, .heads = 4}, config::NormPosition::pre, "rotary_attention"},
    {{.states = 0.7, .heads = 2}, config::NormPosition::pre, "self_attention", false},
    {{.states = 0.7, .attention = 1.3, .heads = 2},
     config::NormPosition::post,
     "self_attention",
     true,
     true}};

TEST_F(DistillationTest, GradientsAreTheDerivativesOfTheLossInShardsAndComputedAgainToo) {
  double whole = 0.0;
  for (const RelationCase& of : relation_cases)
    for (const auto& [shards, recompute] :
         {std::pair<std::int64_t, config::Recompute>{1, config::Recompute::none},
          {1, config::Recompute::blocks},
          {3, config::Recompute::cheap}}) {
      const model::ModelSize size = of.whole_texts ? size_of_texts() : tiny_size();
      const data::PackedBatch batch = of.whole_texts ? batch_of_texts() : tiny_batch();
      const auto teacher = make_teacher(teacher_experiment(), size);
      config::Experiment experiment = student_experiment(3.0, 0.25);
      experiment.distil->relations = of.relations;
      experiment.train.gradient_shards = shards;
      experiment.train.recompute = recompute;
      experiment.model.norm_position = of.norm;
      if (!of.final_norm) experiment.model.final_norm = false;
      fill_table(experiment.model.block[0], registry, Kind::layer, "model.layer.attention", of.attention,
                 {{"heads", std::int64_t{2}}});
      experiment.model.dropout = 0.3;  // of the student, drawn by example and position
      TinyModel student(experiment, size, registry, device, batch);
      if (of.relations.any()) scale_rows_too(student);
      set_parameters(device, student.model, 1);
      student.model.learn_from(*teacher);
      student.model.plan(batch.size(), batch.size());
      const double loss = student.loss({1, 1});
      if (recompute == config::Recompute::none) whole = loss;
      EXPECT_NEAR(loss, whole, 1e-12);
      std::map<std::string, std::vector<double>> gradients;
      for (const memory::ParameterSlice& slice : student.model.parameters().slices())
        gradients[slice.path] = student.gradient(slice);
      for (const memory::ParameterSlice& slice : student.model.parameters().slices()) {
        const std::vector<double> values = student.values(slice);
        for (std::size_t i = 0; i < values.size(); i += 7) {
          constexpr double step = 1e-5;
          const auto loss_at = [&](double value) {
            std::vector<double> moved = values;
            moved[i] = value;
            student.set_values(slice, moved);
            return student.loss({1, 1});
          };
          const double slope = (loss_at(values[i] + step) - loss_at(values[i] - step)) / (2.0 * step);
          EXPECT_NEAR(gradients[slice.path][i], slope, 2e-8)
              << shards << " shards, " << slice.path << "[" << i << "]";
        }
        student.set_values(slice, values);
      }
    }
}

TEST_F(DistillationTest, ATeacherOfAnotherPrecisionServesAndLeavesEvaluationAlone) {
  TinyModel student(student_experiment(2.0, 0.5), tiny_size(), registry, device, tiny_batch());
  set_parameters(device, student.model, 1);
  const double alone = student.model.read_losses(student.model.evaluate(student.batch, {})).front();
  double exact = 0.0;
  for (const config::Precision precision :
       {config::Precision::float64, config::Precision::float32, config::Precision::bfloat16}) {
    if (precision == config::Precision::bfloat16 && !device.gemm().multiplies(DType::bfloat16)) continue;
    const auto teacher = make_teacher(teacher_experiment(precision));
    student.model.learn_from(*teacher);
    student.model.plan(tiny_batch().size(), tiny_batch().size());
    const double loss = student.loss({1, 1});
    if (precision == config::Precision::float64) exact = loss;
    EXPECT_NEAR(loss, exact, precision == config::Precision::bfloat16 ? 3e-2 : 1e-6);
    EXPECT_EQ(student.loss({1, 1}), loss) << "the same bits again";
    EXPECT_EQ(student.model.read_losses(student.model.evaluate(student.batch, {})).front(), alone)
        << "dev is scored without a teacher";
  }
}

/// Returns the message of learn_from for a teacher that does not fit.
std::string refusal(model::Model& student, model::Model& teacher) {
  try {
    student.learn_from(teacher);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST_F(DistillationTest, ATeacherThatDoesNotFitIsRefused) {
  model::Model student(student_experiment(2.0, 0.5), tiny_size(), registry, device);
  model::ModelSize fewer = tiny_size();
  fewer.labels.pop_back();
  EXPECT_EQ(refusal(student, *make_teacher(teacher_experiment(), fewer)),
            "it scores 4 classes, this model 5");
  config::Experiment shorter = teacher_experiment();
  shorter.data.max_length = 4;
  EXPECT_EQ(refusal(student, *make_teacher(shorter)),
            "it reads sequences of up to 4 tokens, and data.max_length is 9 here");
  config::Experiment with_crf = teacher_experiment();
  fill_table(with_crf.model.head, registry, Kind::head, "model.head", "crf", {});
  EXPECT_EQ(refusal(student, *make_teacher(with_crf)), "its head has no class scores to learn");
  EXPECT_EQ(refusal(student, *make_teacher(teacher_experiment(), size_of_texts())),
            "it has class scores of sequences, this model of tokens");
}

TEST_F(DistillationTest, RowsThatCannotBeComparedAreRefused) {
  config::Experiment experiment = student_experiment(2.0, 0.5);
  experiment.distil->relations = {.states = 1.0, .attention = 1.0, .heads = 8};
  model::Model student(experiment, tiny_size(), registry, device);
  config::Experiment wide = teacher_experiment();
  wide.model.width = 12;
  EXPECT_EQ(refusal(student, *make_teacher(wide)),
            "distil.relation_heads = 8 does not divide the 12 channels of its states");
  config::Experiment linear = teacher_experiment();
  fill_table(linear.model.block[0], registry, Kind::layer, "model.layer.attention", "linear_attention", {});
  EXPECT_EQ(refusal(student, *make_teacher(linear)),
            "it has no layer of softmax attention over its own rows, of which distil.attention is learned");
}

TEST_F(DistillationTest, AStudentThatCannotLearnRelationsIsRefusedWithoutATeacher) {
  const auto refused = [&](const auto& change) {
    config::Experiment experiment = student_experiment(2.0, 0.5);
    experiment.distil->relations = {.states = 1.0, .attention = 1.0, .heads = 2};
    change(experiment);
    try {
      const model::Model model(experiment, tiny_size(), registry, device);
    } catch (const config::ConfigError& error) {
      return error.key() + ": " + error.what();
    }
    return std::string("nothing");
  };
  EXPECT_EQ(refused([](config::Experiment&) {}), "nothing");
  EXPECT_EQ(refused([](config::Experiment& of) { of.distil->relations.heads = 5; }),
            "distil.relation_heads: distil.relation_heads = 5 does not divide the 8 channels of this model's "
            "states");
  EXPECT_EQ(refused([&](config::Experiment& of) {
              fill_table(of.model.block[0], registry, Kind::layer, "model.layer.attention",
                         "linear_attention", {});
            }),
            "distil.attention: this model has no layer of softmax attention over its own rows, of which "
            "distil.attention is learned");
  EXPECT_EQ(
      refused([](config::Experiment& of) {
        of.train.freeze = {"embedding", "encoder"};
      }),
      "distil.states: nothing learns from this: train.freeze freezes every parameter behind these rows");
  EXPECT_EQ(refused([](config::Experiment& of) { of.train.batching = config::Batching::padded; }),
            "train.batching: states and attention are learned of packed batches, since padding would be "
            "learned too; set \"packed\"");
}

TEST_F(DistillationTest, ASecondTeacherTakesThePlaceOfTheFirst) {
  config::Experiment experiment = student_experiment(2.0, 0.5);
  experiment.distil->relations = {.states = 1.0, .attention = 1.0, .heads = 2};
  TinyModel student(experiment, tiny_size(), registry, device, tiny_batch());
  scale_rows_too(student);
  set_parameters(device, student.model, 1);
  const auto teacher = make_teacher(teacher_experiment());
  const auto learn = [&] {
    student.model.learn_from(*teacher);
    student.model.plan(tiny_batch().size(), tiny_batch().size());
    return student.loss({1, 1});
  };
  const double loss = learn();
  EXPECT_EQ(learn(), loss);
  EXPECT_EQ(student.model.read_losses(student.model.evaluate(student.batch, {})).back(), 0.0)
      << "an evaluation has no part of it";
}

TEST_F(DistillationTest, AHeadThatDoesNotLearnFromATeacherIsRefused) {
  config::Experiment experiment = student_experiment(2.0, 0.5);
  fill_table(experiment.model.head, registry, Kind::head, "model.head", "crf", {});
  try {
    const model::Model model(experiment, tiny_size(), registry, device);
    FAIL();
  } catch (const config::ConfigError& error) {
    EXPECT_EQ(error.key(), "distil");
    EXPECT_STREQ(
        error.what(),
        "the head \"crf\" has no scores of classes by a softmax, so it cannot learn from a teacher; take "
        "[distil] out, or name a head that has such scores");
  }
}

}  // namespace
}  // namespace encore::testing
