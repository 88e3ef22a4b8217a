// SPDX-License-Identifier: BSD-3-Clause
// Tests load_pretrained() (infer/pretrained_weights.hpp), which fills a new model from a Hugging Face folder
// at step 0 of a run with `model.from`: every tensor of the body must be used bit for bit, only the head may
// be new. A tensor that is missing, unused or of another shape is reported with its name in the file and in
// the model. The names in the file are those of Hugging Face.
#include "infer/pretrained_weights.hpp"

#include <gtest/gtest.h>

#include <list>

#include "support/bert_folder.hpp"
#include "support/tiny_model.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::infer {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

/// Gives the model each parameter that the body of a BERT has: learned positions, segments, a norm after the
/// embedding.
void make_bert(config::Experiment& experiment) {
  config::ModelTable& model = experiment.model;
  model.positions = config::Positions::learned;
  model.max_positions = 12;
  model.segments = 2;
  model.embedding_scale = config::EmbeddingScale::none;
  model.embedding_norm = true;
}

model::ModelSize size_with_classes(std::int64_t classes) {
  model::ModelSize size = testing::tiny_size();
  size.labels.resize(static_cast<std::size_t>(classes));
  return size;
}

class PretrainedTest : public ::testing::Test {
 protected:
  std::unique_ptr<model::Model> make_model(std::int64_t classes = 5, bool pooler = false) const {
    config::Experiment experiment = testing::tiny_experiment(registry_);
    make_bert(experiment);
    experiment.train.precision = config::Precision::float32;
    experiment.model.head.options.set("pooler", pooler);
    return std::make_unique<model::Model>(experiment, size_with_classes(classes), registry_, device_);
  }

  /// Makes the tensors of a folder from the values of a model. A test may change them before write() writes
  /// the folder.
  void take(const model::Model& model) {
    for (const memory::ParameterSlice& slice : model.parameters().slices()) {
      const Tensor values = memory::ParameterBlock::slice(model.parameters().values(), slice);
      std::vector<std::byte>& bytes = memory_.emplace_back(values.bytes());
      memory::copy_to_host(device_, values, bytes.data());
      const record::Safetensors::Entry entry = {values.dtype, slice.spec.shape, bytes};
      for (const record::TensorSlice& tensor :
           testing::bert_tensors(slice.path, entry, pretrained::PretrainedHead::classes))
        tensors_[tensor.name] = tensor;
    }
  }
  void add(const std::string& name, std::vector<std::int64_t> shape, DType dtype = DType::float32) {
    std::size_t bytes = size_of(dtype);
    for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
    tensors_[name] = {
        .name = name, .dtype = dtype, .shape = std::move(shape), .bytes = memory_.emplace_back(bytes)};
  }
  std::filesystem::path write() const {
    std::vector<record::TensorSlice> list;
    for (const auto& [name, tensor] : tensors_) list.push_back(tensor);
    record::save_safetensors(folder_ / "model.safetensors", list, {});
    testing::write_bytes(folder_ / "config.json", R"({"model_type": "bert"})");
    return folder_.path();
  }
  std::string refusal(model::Model& model) const {
    const std::string text = message_of<Error>([&] { load_pretrained(model, write()); });
    const std::string file = (folder_ / "model.safetensors").string() + ": ";
    EXPECT_TRUE(text.starts_with(file)) << text;
    return text.substr(std::min(file.size(), text.size()));
  }
  std::vector<double> values(const model::Model& model) const {
    return testing::to_host(device_, model.parameters().values());
  }

  Device device_;
  plugin_host::Registry registry_ = testing::load_builtin_plugins();
  TemporaryFolder folder_;
  std::list<std::vector<std::byte>> memory_;
  std::map<std::string, record::TensorSlice> tensors_;
};

TEST_F(PretrainedTest, GivesEveryParameterItsBits) {
  const auto donor = make_model(5, true), taker = make_model(5, true);
  donor->initialize(3);
  take(*donor);
  const PretrainedWeights weights = load_pretrained(*taker, write());
  EXPECT_EQ(values(*taker), values(*donor));
  EXPECT_TRUE(weights.fresh.empty());
  EXPECT_EQ(weights.note, "model.from: 41 tensors taken");
}

TEST_F(PretrainedTest, SaysWhatIsNewAndWhatIsLeft) {
  const auto donor = make_model(5, true), taker = make_model(7);
  donor->initialize(3);
  take(*donor);
  add("embeddings.position_ids", {1, 12}, DType::int64);
  const PretrainedWeights weights = load_pretrained(*taker, write());
  EXPECT_EQ(weights.fresh, (std::vector<std::string>{"head.bias", "head.weight"}));
  EXPECT_EQ(weights.note,
            "model.from: 37 tensors taken; head.bias, head.weight are new; left: bert.pooler.dense.bias, "
            "bert.pooler.dense.weight, classifier.bias, classifier.weight");

  // New parameters start with the values that they have without the folder.
  const auto plain = make_model(7);
  plain->initialize(9);
  taker->initialize(9, weights.fresh);
  const auto of = [&](const model::Model& model, const char* path) {
    return testing::to_host(
        device_, memory::ParameterBlock::slice(model.parameters().values(), model.parameters().find(path)));
  };
  EXPECT_EQ(of(*taker, "head.weight"), of(*plain, "head.weight"));
  EXPECT_EQ(of(*taker, "embedding.tokens"), of(*donor, "embedding.tokens"));
}

TEST_F(PretrainedTest, RefusesABodyThatIsNotTheModels) {
  const auto model = make_model();
  model->initialize(1);
  take(*model);
  const std::map<std::string, record::TensorSlice> whole = tensors_;
  tensors_.erase("bert.encoder.layer.1.attention.self.key.bias");
  EXPECT_EQ(refusal(*model),
            "it lacks \"bert.encoder.layer.1.attention.self.key.bias\", which parameter "
            "\"encoder.1.attention.qkv.bias\" of the model needs");
  tensors_ = whole;
  add("bert.encoder.layer.2.output.dense.bias", {8});
  EXPECT_EQ(refusal(*model),
            "it holds \"bert.encoder.layer.2.output.dense.bias\", which a model of this shape does not have");
  tensors_ = whole;
  add("bert.embeddings.position_embeddings.weight", {9, 8});
  EXPECT_EQ(refusal(*model),
            "the rows of \"bert.embeddings.position_embeddings.weight\" are 9, and parameter "
            "\"embedding.positions\" of the model is float32(12, 8)");
  add("bert.embeddings.position_embeddings.weight", {12, 16});
  EXPECT_EQ(refusal(*model),
            "tensor \"bert.embeddings.position_embeddings.weight\" is float32(12, 16), and parameter "
            "\"embedding.positions\" of the model is float32(12, 8)");
  add("bert.embeddings.position_embeddings.weight", {12, 8}, DType::int32);
  EXPECT_EQ(refusal(*model),
            "tensor \"bert.embeddings.position_embeddings.weight\" is int32(12, 8), and parameter "
            "\"embedding.positions\" of the model is float32(12, 8)");
  tensors_ = whole;
  add("embeddings.LayerNorm.gamma", {8});
  EXPECT_EQ(refusal(*model),
            "tensors \"bert.embeddings.LayerNorm.weight\" and \"embeddings.LayerNorm.gamma\" are the same of "
            "BERT's");
}

TEST_F(PretrainedTest, RejectsAModelThatIsNotABert) {
  const auto donor = make_model();
  donor->initialize(1);
  take(*donor);
  config::Experiment experiment = testing::tiny_experiment(registry_);
  make_bert(experiment);
  experiment.model.norm_position = config::NormPosition::pre;
  model::Model model(experiment, testing::tiny_size(), registry_, device_);
  EXPECT_EQ(refusal(model), "a BERT has no tensor for parameter \"encoder.norm.bias\" of the model");
}

}  // namespace
}  // namespace encore::infer
