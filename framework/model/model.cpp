// SPDX-License-Identifier: BSD-3-Clause
// Implements Model: runs the passes over the shards of a batch, adds up losses and gradients in the order of
// the shards, and answers questions about the model. train/ and infer/ call it. Read model.hpp first, then
// pass.cpp. The order of shards and sums decides bits of training and must not change.
#include "model/model.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <encore/attention_weights.hpp>
#include <encore/kernels.hpp>
#include <encore/multiplies_rows.hpp>

#include "model/floats.hpp"
#include "model/generation.hpp"
#include "model/laid_out_weights.hpp"
#include "model/network.hpp"
#include "model/pass.hpp"
#include "model/pass_kernels.hpp"
#include "model/relation_distillation.hpp"
#include "plugin_host/registry.hpp"

namespace encore::model {
namespace {

/// Returns "encoder.3" for "encoder.3.attention.qkv.weight", "encoder.norm" for "encoder.norm.gain", else the
/// first component.
std::string part_of(const std::string& path) {
  const std::size_t first = path.find('.');
  if (path.substr(0, first) != "encoder") return path.substr(0, first);
  return path.substr(0, path.find('.', first + 1));
}

/// Returns the weights over the one sequence of a batch.
AttentionMap attention_map(const Device& device, const Node& node, const HasAttentionWeights& layer,
                           const Step& step, DType precision) {
  const bool reads_memory = node.plan.reads_memory();
  const RowSet& keys = reads_memory ? step.memory() : step.rows();
  const std::int64_t heads = layer.attention_heads(), height = step.rows().size.tokens,
                     width = keys.size.tokens;
  const DType type = sum_type(precision);
  const memory::DeviceBuffer memory("encore::attention_weights",
                                    static_cast<std::size_t>(heads * height * width) * size_of(type));
  const Tensor weights(memory.data(), type, {heads, height, width});
  layer.attention_weights(step, 0, weights);
  return {.layer = node.path,
          .type = node.type,
          .block = node.block,
          .rows = node.space,
          .columns = reads_memory ? Space::tokens : node.space,
          .heads = static_cast<std::size_t>(heads),
          .height = static_cast<std::size_t>(height),
          .width = static_cast<std::size_t>(width),
          .weights = floats_of(device, weights)};
}

}  // namespace

Model::Model(const config::Experiment& experiment, const ModelSize& size,
             const plugin_host::Registry& registry, const Device& device, memory::Use use)
    : device_(device),
      use_(use),
      network_(std::make_unique<Network>(experiment, size, registry, device)),
      needs_(network_->needs()),
      parameters_(std::make_unique<memory::ParameterBlock>(
          device, network_->parameters(), network_->precision(), experiment.train.gradient_shards, use)),
      training_plan_(use == memory::Use::training ? plan_step(*network_, PassMode::train) : StepPlan()),
      evaluation_plan_(plan_step(*network_, PassMode::score)),
      shards_(experiment.train.gradient_shards),
      losses_(memory_of_losses()) {}

Model::~Model() = default;

memory::DeviceBuffer Model::memory_of_losses() const {
  return {"encore::losses",
          sizeof(double) * (needs_.losses.size() * static_cast<std::size_t>(shards_ + 1) + 1)};
}

void Model::plan(const BatchSize& training, const BatchSize& evaluation) {
  if (teacher_ != nullptr) teacher_->plan({}, training);
  if (relations_) relations_->plan(training);
  training_plan_.place(training);
  evaluation_plan_.place(evaluation);
  training_.reset();
  evaluation_.reset();
  arena_ = memory::DeviceBuffer();  // give the old arena back before taking the new one
  arena_ = memory::DeviceBuffer("encore::arena",
                                std::max(training_plan_.arena_bytes, evaluation_plan_.arena_bytes));
  if (use_ == memory::Use::training)
    training_ = std::make_unique<Pass>(*network_, training_plan_, *parameters_, device_, arena_.data());
  evaluation_ = std::make_unique<Pass>(*network_, evaluation_plan_, *parameters_, device_, arena_.data());
  if (batch_invariant_) evaluation_->make_batch_invariant();
  if (use_ == memory::Use::inference && !laid_out_) lay_out();
  use_laid_out();
}

void Model::make_batch_invariant() {
  ENCORE_REQUIRE(!evaluation_, "batch invariance is decided before memory is planned");
  batch_invariant_ = precision() == DType::float32;  // else the products of the library may be faster
}

void Model::lay_out() {
  kernels::GemmLibrary& library =
      network_->is_causal() || batch_invariant_ ? device_.gemm().invariant() : device_.gemm();
  std::vector<LaidOutWeight> weights;
  for (const auto& [path, weight] : product_weights_of(*network_, *parameters_))
    if (!quantized_ || !quantized_->layouts().contains(weight.seen))
      weights.push_back({weight.seen, weight.seen, &library});
  laid_out_ = std::make_unique<LaidOutWeights>(device_, *parameters_, weights);
}

void Model::use_laid_out() {
  if (!evaluation_) return;
  evaluation_->use(laid_out_ ? &laid_out_->layouts() : nullptr);
  evaluation_->use_quantized(quantized_ ? &quantized_->layouts() : nullptr);
}

void Model::initialize(std::uint64_t seed) {
  for (const memory::ParameterSlice& slice : parameters_->slices()) initialize(seed, slice);
  parameters_->values_changed();
}

void Model::initialize(std::uint64_t seed, std::span<const std::string> paths) {
  for (const std::string& path : paths) initialize(seed, parameters_->find(path));
  parameters_->values_changed();
}

void Model::initialize(std::uint64_t seed, const memory::ParameterSlice& slice) {
  kernels::initialize(device_, slice.spec, {seed, random_stream(slice.path, "initial"), 0},
                      memory::ParameterBlock::slice(parameters_->values(), slice));
}

const double* Model::forward_backward(const DeviceBatch& batch, std::span<const double> scales,
                                      StepRandom random) {
  begin_gradients();
  for (const Shard& shard : batch.shards()) {
    parameters_->mark_rows(shard.batch.tokens);
    if (shard.batch.target.ids) parameters_->mark_rows(shard.batch.target);
    shard_gradient(shard, scales, random);
    parameters_->end_shard();
  }
  return end_gradients(std::ssize(batch.shards()), scales);
}

void Model::begin_gradients() {
  ENCORE_REQUIRE(training_ != nullptr, "Model::plan comes first, and the model is not for inference");
  parameters_->refresh_copies();
  parameters_->zero_gradients();
}

void Model::shard_gradient(const Shard& shard, std::span<const double> scales, StepRandom random,
                           const std::function<void(std::size_t)>& seen) {
  parameters_->begin_shard();
  start_training(shard, random);
  training_->forward();
  sum_losses(training_->losses(), relations_ ? relations_->losses(*training_) : Tensor(), shard.place);
  std::array<double, most_losses> factors;
  for (std::size_t i = 0; i < scales.size(); ++i) factors[i] = scales[i] * loss_factor_;
  const std::span<const double> scaled = std::span(factors).first(scales.size());
  if (relations_) training_->use_taught(relations_->taught(scaled.back()));
  training_->backward(scaled, seen);
}

Tensor Model::loss_sums() const {
  return {losses_.data(), DType::float64, {shards_, static_cast<std::int64_t>(needs_.losses.size())}};
}

const double* Model::end_gradients(std::int64_t shards, std::span<const double> scales) {
  parameters_->end_shards();
  return total_losses(shards, scales) + scales.size();
}

const double* Model::evaluate(const DeviceBatch& batch, std::span<const Tensor> outputs) {
  ENCORE_REQUIRE(evaluation_ != nullptr, "Model::plan comes first");
  std::int64_t shards = 0;
  bool truth = true;
  refresh_weights();
  for (const Shard& shard : batch.shards()) {
    evaluation_->start(shard.batch, 0, 0);
    evaluation_->forward();
    truth = truth && knows_truth(shard.batch);
    if (truth) sum_losses(evaluation_->losses(), {}, shards++);
    if (!outputs.empty()) decode(shard, outputs);
  }
  std::array<double, most_losses> ones;
  ones.fill(1.0);
  return truth ? total_losses(shards, std::span(ones).first(needs_.losses.size())) : nullptr;
}

void Model::encode(const DeviceBatch& batch, const std::function<void(Tensor)>& seen) {
  ENCORE_REQUIRE(evaluation_ != nullptr, "Model::plan comes first");
  refresh_weights();
  for (const Shard& shard : batch.shards()) {
    evaluation_->start(shard.batch, 0, 0);
    seen(evaluation_->forward_to(network_->states()));
  }
}

// --- a teacher ---

void Model::learn_from(Model& teacher) {
  const std::optional<ClassScores>&own = head().class_scores(), &taught = teacher.head().class_scores();
  ENCORE_REQUIRE(own && head().learns_from_teacher(), "the head learns from a teacher");
  if (!taught) throw Error("its head has no class scores to learn");
  if (taught->space != own->space)
    throw Error(std::string("it has class scores of ") + name_of(taught->space) + ", this model of " +
                name_of(own->space));
  if (taught->classes != own->classes)
    throw Error("it scores " + std::to_string(taught->classes) + " classes, this model " +
                std::to_string(own->classes));
  if (teacher.max_length() < max_length())
    throw Error("it reads sequences of up to " + std::to_string(teacher.max_length()) +
                " tokens, and data.max_length is " + std::to_string(max_length()) + " here");
  if (teacher.needs().target != needs_.target || teacher.needs().picked != needs_.picked)
    throw Error("it reads other rows of an example than this model");
  teacher_columns_.clear();
  const std::vector<ColumnNeed>& wanted = teacher.head().columns();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto found = std::ranges::find(head().columns(), wanted[i]);
    const bool truth = teacher.network_->is_truth(i);
    if (!truth && found == head().columns().end())
      throw Error("it reads the column \"" + wanted[i].name + "\", which this model's task does not have");
    teacher_columns_.push_back(truth ? -1 : static_cast<int>(found - head().columns().begin()));
  }
  teacher_batch_.columns.resize(teacher_columns_.size());
  needs_.losses = head().losses();
  if (network_->relations().any()) {
    relations_ = std::make_unique<RelationDistillation>(*network_, *teacher.network_, device_);
    needs_.losses.push_back(data::every_row);
    losses_ = memory_of_losses();
  }
  needs_.segments = std::max(needs_.segments, teacher.needs().segments);
  teacher_ = &teacher;
}

void Model::start_training(const Shard& shard, StepRandom random) {
  Tensor scores;
  if (teacher_ != nullptr) {
    teacher_batch_.tokens = shard.batch.tokens;
    teacher_batch_.target = shard.batch.target;
    teacher_batch_.picked = shard.batch.picked;
    for (std::size_t i = 0; i < teacher_columns_.size(); ++i)
      if (teacher_columns_[i] >= 0)
        teacher_batch_.columns[i] = shard.batch.columns[static_cast<std::size_t>(teacher_columns_[i])];
    scores = teacher_->class_scores(teacher_batch_, relations_.get());
  }
  training_->start(shard.batch, random.seed, random.step);
  training_->use_teacher_scores(scores);
}

Tensor Model::class_scores(const Batch& batch, RelationDistillation* relations) {
  ENCORE_REQUIRE(evaluation_ != nullptr, "Model::plan comes first");
  refresh_weights();
  evaluation_->start(batch, 0, 0);
  evaluation_->forward_layers([&](const Node& node, const Step& step, Tensor output) {
    if (relations != nullptr) relations->copy_rows_of(node, step, output);
  });
  evaluation_->score();
  return evaluation_->head_buffer(head().class_scores().value().buffer);
}

SequenceAttention Model::attention(const DeviceBatch& batch) {
  ENCORE_REQUIRE(evaluation_ != nullptr, "Model::plan comes first");
  ENCORE_REQUIRE(batch.size().sequences == 1 && batch.shards().size() == 1, "a batch of one sequence");
  refresh_weights();
  SequenceAttention found;
  const Batch& rows = batch.shards().front().batch;
  evaluation_->start(rows, 0, 0);
  evaluation_->forward_layers([&](const Node& node, const Step& step, Tensor) {
    const auto* layer = dynamic_cast<const HasAttentionWeights*>(node.layer.get());
    if (layer != nullptr)
      found.maps.push_back(attention_map(device_, node, *layer, step, precision()));
    else if (dynamic_cast<const MultipliesRows*>(node.layer.get()) != nullptr)
      found.hidden.push_back({node.path, node.type});
  });
  return found;
}

bool Model::has_attention() const {
  return std::ranges::any_of(network_->nodes(), [](const Node& node) {
    return dynamic_cast<const HasAttentionWeights*>(node.layer.get()) != nullptr;
  });
}

std::unique_ptr<Generation> Model::make_generation(const BatchSize& largest, std::int64_t capacity) {
  auto generation =
      std::make_unique<Generation>(*network_, *parameters_, device_, largest, capacity, generation_memory_);
  if (!laid_out_) {
    lay_out();
    use_laid_out();
  }
  generation->use(*laid_out_, quantized_.get());
  return generation;
}

void Model::refresh_weights() {
  parameters_->refresh_copies();
  if (laid_out_) laid_out_->refresh();
  if (quantized_) quantized_->refresh();
}

// --- integers ---

std::vector<std::string> Model::product_weights() const {
  std::vector<std::string> paths;
  for (const auto& [path, weight] : product_weights_of(*network_, *parameters_)) paths.push_back(path);
  return paths;
}

void Model::quantize(const std::map<std::string, int>& bits) {
  if (device_.gemm().quantized(8) == nullptr)
    throw Error("products with weights of integers are computed on the host only; this is a worker for " +
                device_.gemm().name());
  if (!device_.gemm().quantized(8)->multiplies(precision()))
    throw Error(std::string("this model computes in ") + name_of(precision()) +
                ", and integers go with float32 and bfloat16 activations");
  const std::map<std::string, LaidOutWeight> all = product_weights_of(*network_, *parameters_);
  std::vector<LaidOutWeight> weights;
  for (const auto& [path, count] : bits) {
    const auto weight = all.find(path);
    if (weight == all.end()) throw Error("no product of the model reads a parameter \"" + path + "\"");
    weights.push_back(weight->second);
    weights.back().library = device_.gemm().quantized(count);
  }
  quantized_.reset();
  if (!weights.empty()) quantized_ = std::make_unique<LaidOutWeights>(device_, *parameters_, weights);
  if (laid_out_) lay_out();
  use_laid_out();
}

std::vector<std::string> Model::quantized_products() const {
  std::vector<std::string> paths;
  if (!quantized_) return paths;
  for (const auto& [path, weight] : product_weights_of(*network_, *parameters_))
    if (quantized_->layouts().was_found(weight.seen)) paths.push_back(path);
  return paths;
}

void Model::require_generation() const {
  encore::model::require_generation(*network_);
}

bool Model::knows_truth(const Batch& batch) const {
  for (std::size_t i = 0; i < batch.columns.size(); ++i)
    if (network_->is_truth(i) && !batch.columns[i]) return false;
  return true;
}

void Model::decode(const Shard& shard, std::span<const Tensor> outputs) {
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const OutputRule& rule = this->outputs()[i];
    const std::int64_t first = shard.first[static_cast<std::size_t>(rule.space)] * rule.width;
    Tensor part = outputs[i];
    if (!part && rule.on_request) {
      parts.push_back(part);
      continue;
    }
    part.data = static_cast<std::byte*>(part.data) + static_cast<std::size_t>(first) * size_of(part.dtype);
    part.extents[0] = shard.batch.size().rows(rule.space);
    parts.push_back(part);
  }
  evaluation_->decode(parts);
}

void Model::sum_losses(std::span<const Tensor> losses, Tensor relations, std::int64_t shard) {
  ENCORE_REQUIRE(shard < shards_, "the batch has more shards than train.gradient_shards");
  double* sums =
      reinterpret_cast<double*>(losses_.data()) + static_cast<std::size_t>(shard) * needs_.losses.size();
  for (std::size_t i = 0; i < losses.size(); ++i) kernels::sum(device_, losses[i], sums + i);
  if (!relations_) return;
  if (!relations) relations = Tensor(losses_.data(), DType::float64, {0});  // without rows: 0
  kernels::sum(device_, relations, sums + losses.size());
}

const double* Model::total_losses(std::int64_t shards, std::span<const double> scales) {
  ENCORE_REQUIRE(scales.size() == needs_.losses.size(), "every loss of the head has a scale");
  double* sums = reinterpret_cast<double*>(losses_.data());
  double* totals = sums + static_cast<std::size_t>(shards_) * scales.size();
  sum_shards(device_, sums, shards, scales, totals);
  return totals;
}

DType Model::precision() const {
  return network_->precision();
}

double Model::read(const double* loss) const {
  double value = 0.0;
  memory::copy_to_host(device_, Tensor(const_cast<double*>(loss), DType::float64, {1}), &value);
  return value;
}

std::vector<double> Model::read_losses(const double* sums) const {
  std::vector<double> values(needs_.losses.size());
  memory::copy_to_host(
      device_, Tensor(const_cast<double*>(sums), DType::float64, {static_cast<std::int64_t>(values.size())}),
      values.data());
  return values;
}

Tensor Model::evaluation_tensor(const std::string& path) const {
  ENCORE_REQUIRE(evaluation_ != nullptr, "Model::plan and Model::evaluate come first");
  return evaluation_->tensor(path);
}

std::string Model::first_not_finite(const DeviceBatch& batch, StepRandom random) {
  for (const memory::ParameterSlice& slice : parameters_->slices())
    if (kernels::count_not_finite(device_, memory::ParameterBlock::slice(parameters_->values(), slice)) > 0)
      return "parameter " + slice.path;
  std::string found;
  const auto check = [&](const std::string& path, Tensor output) {
    if (found.empty() && kernels::count_not_finite(device_, output) > 0) found = "layer " + path;
  };
  for (const Shard& shard : batch.shards()) {
    start_training(shard, random);
    training_->forward(check);
    for (const Tensor losses : training_->losses()) check("head", losses);
    if (relations_) check("distil", relations_->losses(*training_));
    if (!found.empty()) return found;
  }
  return {};
}

std::vector<PartCount> Model::parameter_counts() const {
  std::vector<PartCount> counts;
  for (const memory::NamedParameter& parameter : network_->parameters()) {
    const std::string part = part_of(parameter.path);
    if (counts.empty() || counts.back().part != part) counts.push_back({part, 0});
    counts.back().parameters += parameters_->find(parameter.path).size;
  }
  return counts;
}

}  // namespace encore::model
