// See step_case.hpp.
#include "bench/step_case.hpp"

#include <algorithm>
#include <numeric>

#include <Kokkos_Core.hpp>

#include "bench/clock.hpp"
#include "bench/kernel_watch.hpp"
#include "kernels/product_label.hpp"

namespace encore {
namespace {

BatchSize at_least(BatchSize a, const BatchSize& b) {
  return {std::max(a.tokens, b.tokens), std::max(a.sequences, b.sequences), std::max(a.squares, b.squares),
          std::max(a.longest, b.longest)};
}

/// Sequences of exactly `length` tokens, cut from the examples one behind the other.
class FullExamples {
 public:
  FullExamples(std::span<const Example> from, std::int64_t length, std::int64_t count) {
    const auto rows = static_cast<std::size_t>(length), all = static_cast<std::size_t>(count) * rows;
    for (std::size_t at = 0; ids_.size() < all; at = (at + 1) % from.size()) {
      ids_.insert(ids_.end(), from[at].ids.begin(), from[at].ids.end());
      targets_.insert(targets_.end(), from[at].targets.begin(), from[at].targets.end());
    }
    for (std::size_t begin = 0; begin < all; begin += rows)
      examples_.push_back({std::span(ids_).subspan(begin, rows), std::span(targets_).subspan(begin, rows)});
  }
  std::span<const Example> examples() const { return examples_; }

 private:
  std::vector<std::int32_t> ids_, targets_;
  std::vector<Example> examples_;
};

/// "encore::gemm N x 1152 x 384 nt": batches have different numbers of tokens, and the product is the same
/// one.
std::string general_label(const std::string& label) {
  const std::optional<ProductShape> product = parse_product_label(label);
  if (!product) return label;
  const std::string m = product->transpose_a ? std::to_string(product->rows) : "N";
  const std::string k = product->transpose_a ? "N" : std::to_string(product->inner);
  return "encore::gemm " + m + " x " + std::to_string(product->columns) + " x " + k + " " +
         (product->transpose_a ? "t" : "n") + (product->transpose_b ? "t" : "n");
}

}  // namespace

BenchData load_bench_data(const LoadedExperiment& loaded, const std::filesystem::path& folder) {
  BenchData data{
      std::make_unique<TaskSets>(make_task_parts(loaded.experiment, loaded.registry), loaded.experiment.data),
      {}};
  const auto tokenizer = load_tokenizer(loaded, folder, [&] { return data.sets->word_counts(); });
  data.sets->encode(*tokenizer, Kokkos::num_threads());
  const auto vocabulary = tokenizer->vocabulary();
  data.vocabulary_size = static_cast<std::int64_t>(vocabulary.size());
  return data;
}

StepCase::StepCase(const BenchCaseRequest& request, LoadedExperiment loaded, const BenchData& data,
                   std::int64_t batches, bool order_cost, const Device& device)
    : loaded_(std::move(loaded)),
      device_(device),
      type_(type_of_precision(request.specification.config.at("train").at("precision").get<std::string>())),
      seed_(request.specification.seed) {
  take_batches(data, request.length, batches);
  model_ =
      std::make_unique<Model>(loaded_.experiment, ModelSize{data.vocabulary_size, data.sets->task().labels()},
                              loaded_.registry, device);
  optimizer_ = loaded_.registry.make_optimizer(loaded_.experiment.optimizer.type,
                                               loaded_.experiment.optimizer.options);
  const std::int64_t shards = loaded_.experiment.train.gradient_shards;
  model_->plan(largest_, {});
  model_->parameters().make_states(optimizer_->states());
  model_->initialize(seed_);
  mark_all_tokens(data);
  uploaded_ = std::make_unique<DeviceBatch>(device_, largest_, shards);
  update_ = std::make_unique<TrainingStep>(*model_, *optimizer_, loaded_.experiment.train.clip_norm);
  products_ =
      std::make_unique<BareProducts>(device_, *model_, loaded_.experiment.model, type_, largest_.tokens);
  if (order_cost)
    order_cost_ =
        std::make_unique<OrderCost>(device_, *model_, loaded_.experiment.model, type_, largest_.tokens);
}

void StepCase::take_batches(const BenchData& data, std::int64_t length, std::int64_t count) {
  const TrainTable& train = loaded_.experiment.train;
  const EncodedSet& set = data.sets->set(Split::train);
  const Packing packing{train.batching, loaded_.experiment.data.max_length, 0};
  std::optional<FullExamples> full;
  std::vector<std::vector<std::int32_t>> plan;
  if (length > 0) {
    full.emplace(set.examples, length, count * train.batch_size);
    for (std::int64_t batch = 0; batch < count; ++batch) {
      auto& members = plan.emplace_back();
      for (std::int64_t i = 0; i < train.batch_size; ++i)
        members.push_back(static_cast<std::int32_t>(batch * train.batch_size + i));
    }
  } else {
    plan = plan_epoch(set.set.lengths(), {seed_, train.batch_size}, 0);
  }
  // A batch that is not full would be measured as if it were one.
  std::erase_if(plan, [&](const auto& members) {
    return static_cast<std::int64_t>(members.size()) < train.batch_size;
  });
  if (plan.empty())
    throw Error("the training set has " + std::to_string(set.examples.size()) +
                " examples, too few for one batch of " + std::to_string(train.batch_size) +
                "; give a smaller --batch-size");
  plan.resize(std::min(plan.size(), static_cast<std::size_t>(count)));
  for (const auto& members : plan) {
    pack(full ? full->examples() : std::span<const Example>(set.examples), members, packing,
         batches_.emplace_back());
    largest_ = at_least(largest_, batches_.back().size());
  }
}

void StepCase::mark_all_tokens(const BenchData& data) {
  std::vector<std::int32_t> ids;
  for (const Example& example : data.sets->set(Split::train).examples)
    ids.insert(ids.end(), example.ids.begin(), example.ids.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<std::int32_t> order(ids.size());
  std::iota(order.begin(), order.end(), 0);
  const auto count = static_cast<std::int64_t>(ids.size());
  const DeviceBuffer memory("encore::bench_tokens", 2 * aligned(ids.size() * sizeof(std::int32_t)));
  Batch all;
  all.size.tokens = count;
  all.ids = Tensor(memory.data(), DType::int32, {count});
  all.order = Tensor(memory.data() + memory.bytes() / 2, DType::int32, {count});
  copy_from_host(device_, ids.data(), all.ids);
  copy_from_host(device_, order.data(), all.order);
  model_->parameters().mark_rows(all);
  model_->parameters().zero_gradients();
  device_.fence();
}

void StepCase::step(std::size_t batch) {
  uploaded_->upload(batches_[batch]);
  ++steps_;
  update_->compute_gradient(*uploaded_, {seed_, static_cast<std::uint64_t>(steps_)});
  // So small a rate that no number of rounds leads anywhere: the last one computes what the first did.
  update_->update(1e-12, steps_);
}

Samples StepCase::measure(GemmLibrary& free_gemm) {
  Samples samples;
  for (std::size_t i = 0; i < batches_.size(); ++i) {
    samples["step"] += seconds_of(device_, [&] { step(i); });
    const std::int64_t tokens = batches_[i].size().tokens;
    samples["matmul"] += seconds_of(device_, [&] { products_->run(free_gemm, tokens); });
    samples["gemm"] += seconds_of(device_, [&] { products_->run(device_.gemm(), tokens); });
    if (order_cost_)
      for (const auto& [quantity, seconds] : order_cost_->measure(uploaded_->shards().front().batch))
        samples[quantity] += seconds;
  }
  watch(samples);
  for (auto& [quantity, seconds] : samples) seconds /= static_cast<double>(batches_.size());
  return samples;
}

void StepCase::watch(Samples& samples) {
  kernels_.clear();
  allocations_ = allocated_bytes_ = 0;
  for (std::size_t i = 0; i < batches_.size(); ++i) {
    std::map<std::string, KernelTime> kernels, within_products;
    {
      const KernelWatch watch(device_);
      samples["watched_step"] += seconds_of(device_, [&] { step(i); });
      allocations_ += watch.allocations();
      allocated_bytes_ += watch.allocated_bytes();
      kernels = watch.kernels();
      within_products = watch.within_products();
    }
    const StepShape shape = shape_of_step(*model_, loaded_.experiment, type_, batches_[i]);
    const auto add = [&](const std::string& label, const KernelTime& time, bool within) {
      const std::string general = general_label(label);
      Kernel& kernel = kernels_[general];
      const std::optional<ProductShape> product = parse_product_label(label);
      std::optional<KernelWork> work;
      if (product)
        work = KernelWork{static_cast<double>(time.calls) * product->flops(),
                          static_cast<double>(time.calls) * product->bytes()};
      else if (!within)
        work = work_of_kernel(label, shape, time.calls);
      if (work && (kernel.calls == 0 || kernel.work)) {
        const KernelWork before = kernel.work.value_or(KernelWork{});
        kernel.work = KernelWork{before.flops + work->flops, before.bytes + work->bytes};
      }
      kernel.calls += time.calls;
      kernel.within_product = within;
      samples["kernel " + general] += time.seconds;
    };
    for (const auto& [label, time] : kernels) add(label, time, false);
    // The tiles of a product have the name of the whole, which is already counted.
    for (const auto& [label, time] : within_products)
      if (label != "encore::gemm") add(label, time, true);
  }
}

nlohmann::json StepCase::kernel_facts() const {
  const auto count = static_cast<double>(batches_.size());
  nlohmann::json list = nlohmann::json::object();
  for (const auto& [label, kernel] : kernels_) {
    nlohmann::json& entry = list[label];
    entry["calls"] = static_cast<double>(kernel.calls) / count;
    if (kernel.within_product) entry["within"] = "encore::gemm";
    if (!kernel.work) continue;
    entry["flops"] = kernel.work->flops / count;
    entry["bytes"] = kernel.work->bytes / count;
  }
  return list;
}

nlohmann::json StepCase::facts() const {
  const auto count = static_cast<double>(batches_.size());
  double real = 0.0, rows = 0.0, sequences = 0.0, flops = 0.0;
  for (const PackedBatch& batch : batches_) {
    real += static_cast<double>(batch.real_tokens);
    rows += static_cast<double>(batch.size().tokens);
    sequences += static_cast<double>(batch.examples.size());
    flops += products_->flops(batch.size().tokens);
  }
  const ParameterBlock& parameters = model_->parameters();
  nlohmann::json list = nlohmann::json::array();
  for (const Reduction& reduction : reductions())
    list.push_back({{"name", reduction.name},
                    {"kernels", reduction.kernels},
                    {"fixed", reduction.fixed},
                    {"free", reduction.free}});
  return {{"batches", batches_.size()},
          {"tokens", real / count},
          {"rows", rows / count},
          {"sequences", sequences / count},
          {"longest", largest_.longest},
          {"matmul_flops", flops / count},
          {"parameters", parameters.count()},
          {"parameter_bytes", parameters.values().bytes()},
          {"gradient_bytes", parameters.gradients().bytes()},
          {"state_bytes", parameters.state_names().size() * parameters.values().bytes()},
          {"arena_bytes", model_->arena_bytes()},
          {"allocations", allocations_},
          {"allocated_bytes", allocated_bytes_},
          {"kernels", kernel_facts()},
          {"reductions", list}};
}

}  // namespace encore
