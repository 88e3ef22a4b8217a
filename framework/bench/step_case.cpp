// SPDX-License-Identifier: BSD-3-Clause
// Makes the batches and the model of a case of `exp bench`, and measures its steps, its matrix products and
// its kernels. worker/bench_verb.cpp calls it in rounds. Samples and facts are stored by name
// (analysis/bench_summary.cpp reads them), so names stay. Read step_case.hpp first.
#include "bench/step_case.hpp"

#include <algorithm>
#include <numeric>

#include "base/sha256.hpp"
#include "bench/clock.hpp"
#include "bench/kernel_watch.hpp"
#include "data/largest_batch.hpp"
#include "kernels/products/product_label.hpp"

namespace encore::bench {
namespace {

/// Returns sequences of exactly `length` tokens, cut from the sequences of a set joined one after the other.
/// A new sequence has the label and other values of the sequence in which it begins.
ExampleSet full_examples(const ExampleSet& set, std::int64_t length, std::int64_t count) {
  struct Arrays {
    std::vector<std::int32_t> lengths, ids;
    std::vector<std::vector<std::int32_t>> columns;
  };
  if (set.has_target() || !set.arrays().sequences.empty())
    throw Error("--length needs examples of one sequence; this task has others");
  const auto arrays = std::make_shared<Arrays>();
  const auto rows = static_cast<std::size_t>(length), all = static_cast<std::size_t>(count) * rows;
  std::vector<std::size_t> kept;
  for (std::size_t c = 0; c < set.columns().size(); ++c) {
    const ColumnRule& rule = set.columns()[c].rule;
    if (rule.type == ColumnType::integers && rule.width == 1 &&
        (rule.space == Space::tokens || rule.space == Space::sequences))
      kept.push_back(c);
  }
  arrays->columns.resize(kept.size());
  for (std::size_t at = 0; arrays->ids.size() < all; at = (at + 1) % set.sequence_count()) {
    const std::size_t begun = (arrays->ids.size() + rows - 1) / rows;
    const auto add = [](auto from, auto& to) { to.insert(to.end(), from.begin(), from.end()); };
    add(set.ids(at), arrays->ids);
    const std::size_t ends = (arrays->ids.size() + rows - 1) / rows;
    for (std::size_t k = 0; k < kept.size(); ++k) {
      const auto values = set.integers(kept[k], at);
      if (set.columns()[kept[k]].rule.space == Space::tokens)
        add(values, arrays->columns[k]);
      else
        arrays->columns[k].insert(arrays->columns[k].end(), ends - begun, values.front());
    }
  }
  arrays->ids.resize(all);
  arrays->lengths.assign(static_cast<std::size_t>(count), static_cast<std::int32_t>(length));
  ExampleArrays spans = {.lengths = arrays->lengths, .ids = arrays->ids};
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const ColumnRule& rule = set.columns()[kept[k]].rule;
    arrays->columns[k].resize(rule.space == Space::tokens ? all : static_cast<std::size_t>(count));
    spans.columns.push_back({.rule = rule, .integers = arrays->columns[k]});
  }
  return {std::move(spans), arrays};
}

/// Returns "encore::gemm N x 1152 x 384 nt": batches have different numbers of tokens, but the product is the
/// same.
std::string general_label(const std::string& label) {
  const std::optional<kernels::ProductShape> product = kernels::parse_product_label(label);
  if (!product) return label;
  const std::string m = product->transpose_a ? std::to_string(product->rows) : "N";
  const std::string k = product->transpose_a ? "N" : std::to_string(product->inner);
  return "encore::gemm " + m + " x " + std::to_string(product->columns) + " x " + k + " " +
         (product->transpose_a ? "t" : "n") + (product->transpose_b ? "t" : "n");
}

}  // namespace

BenchData load_bench_data(const infer::LoadedExperiment& loaded, const std::filesystem::path& folder) {
  BenchData data{std::make_unique<tasks::TaskSets>(infer::make_task_parts(loaded.experiment, loaded.registry),
                                                   loaded.experiment.data),
                 {}};
  const infer::LoadedTokenizer tokenizer = infer::load_tokenizer(
      loaded, folder, [&](tasks::TextSide side) { return data.sets->text_counts(side); });
  data.sets->encode(*tokenizer.tokenizer, host_threads());
  data.vocabulary_size = tokenizer.tokenizer->vocabulary().size();
  data.targets = tokenizer.targets;
  return data;
}

StepCase::StepCase(const record::BenchCaseRequest& request, infer::LoadedExperiment loaded,
                   const BenchData& data, std::int64_t batches, bool order_cost, const Device& device,
                   distributed::Communicator& ranks)
    : loaded_(std::move(loaded)),
      device_(device),
      ranks_(ranks),
      type_(type_of_precision(request.specification.config.at("train").at("precision").get<std::string>())),
      seed_(request.specification.seed) {
  if (loaded_.experiment.data.max_length == 0)
    infer::take_max_length(loaded_.experiment, data.sets->max_length());
  model_ = std::make_unique<model::Model>(
      loaded_.experiment, infer::model_size(data.sets->task(), data.vocabulary_size, data.targets),
      loaded_.registry, device);
  take_batches(data, request.length, batches);
  optimizer_ = loaded_.registry.make_optimizer(loaded_.experiment.optimizer.type,
                                               loaded_.experiment.optimizer.options);
  const std::int64_t shards = loaded_.experiment.train.gradient_shards;
  // The ranks are set before the states are made, because each of several ranks has the states of its own
  // range.
  update_ = std::make_unique<train::TrainingStep>(*model_, *optimizer_, loaded_.experiment.train.clip_norm,
                                                  "", ranks_, shards);
  model_->plan(largest_, {});
  model_->parameters().make_states(optimizer_->states());
  model_->initialize(seed_);
  mark_all_tokens(data);
  uploaded_ = std::make_unique<model::DeviceBatch>(device_, largest_, model_->needs(), shards);
  if (!memory::host_reaches_device() && ranks_.size() == 1)
    next_ = std::make_unique<model::DeviceBatch>(device_, largest_, model_->needs(), shards);
  products_ = std::make_unique<BareProducts>(device_, model_->network(), type_, largest_);
  if (order_cost)
    order_cost_ =
        std::make_unique<OrderCost>(device_, *model_, loaded_.experiment.model, type_, largest_.tokens);
}

void StepCase::take_batches(const BenchData& data, std::int64_t length, std::int64_t count) {
  const config::TrainTable& train = loaded_.experiment.train;
  const ExampleSet units = infer::units_of(data.sets->task(), data.sets->set(data::Split::train).set);
  const data::BatchOptions options = infer::batch_options(train, seed_);
  const data::Packing packing{train.batching, loaded_.experiment.data.max_length, 0};
  std::optional<ExampleSet> full;
  std::vector<std::vector<std::int32_t>> plan;
  if (length > 0) {
    const std::int64_t size = options.batch_tokens > 0
                                  ? std::max<std::int64_t>(1, options.batch_tokens / length)
                                  : options.batch_size;
    full.emplace(full_examples(units, length, count * size));
    for (std::int64_t batch = 0; batch < count; ++batch) {
      auto& members = plan.emplace_back();
      for (std::int64_t i = 0; i < size; ++i) members.push_back(static_cast<std::int32_t>(batch * size + i));
    }
  } else {
    plan = data::plan_epoch(data::example_lengths(units), options, 0);
  }
  // Partial batches are left out, because they would be measured as if they were full. Batches by tokens
  // stay: they are as full as possible, except the last one of an epoch.
  if (options.batch_tokens == 0)
    std::erase_if(plan, [&](const auto& members) { return std::ssize(members) < options.batch_size; });
  if (plan.empty())
    throw Error("the training set has " + std::to_string(units.size()) +
                " examples, too few for one batch of " + std::to_string(train.batch_size) +
                "; give a smaller --batch-size");
  plan.resize(std::min(plan.size(), static_cast<std::size_t>(count)));
  data::Packer packer(full ? *full : units, model_->needs(), packing);
  packer.draw(data.sets->task(), seed_, 0);
  for (const auto& members : plan) {
    packer.pack(members, batches_.emplace_back());
    largest_ = data::at_least(largest_, batches_.back().size());
  }
}

void StepCase::mark_all_tokens(const BenchData& data) {
  const ExampleArrays& arrays = data.sets->set(data::Split::train).set.arrays();
  std::vector<std::int32_t> ids(arrays.ids.begin(), arrays.ids.end());
  ids.insert(ids.end(), arrays.target_ids.begin(), arrays.target_ids.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<std::int32_t> order(ids.size());
  std::iota(order.begin(), order.end(), 0);
  const auto count = static_cast<std::int64_t>(ids.size());
  const memory::DeviceBuffer memory("encore::bench_tokens",
                                    2 * memory::aligned(ids.size() * sizeof(std::int32_t)));
  RowSet all;
  all.size.tokens = count;
  all.ids = Tensor(memory.data(), DType::int32, {count});
  all.order = Tensor(memory.data() + memory.bytes() / 2, DType::int32, {count});
  memory::copy_from_host(device_, ids.data(), all.ids);
  memory::copy_from_host(device_, order.data(), all.order);
  model_->parameters().mark_rows(all);
  model_->parameters().zero_gradients();
  device_.fence();
}

void StepCase::step(std::size_t batch) {
  if (ahead_ == batch)
    std::swap(uploaded_, next_);
  else
    update_->upload(batches_[batch], *uploaded_);
  ++steps_;
  update_->compute_gradient(*uploaded_, {seed_, static_cast<std::uint64_t>(steps_)}, [&] {
    if (!next_) return;
    ahead_ = (batch + 1) % batches_.size();
    update_->upload(batches_[*ahead_], *next_);
  });
  if (steps_ == 1 && ranks_.size() == 1) {
    const Tensor gradients = model_->parameters().gradients();
    std::vector<std::byte> bytes(gradients.bytes());
    memory::copy_to_host(device_, gradients, bytes.data());
    gradient_digest_ = sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  // The rate is so small that the parameters do not change: the last round computes what the first did.
  update_->update(1e-12, steps_);
}

BatchSize StepCase::own_rows(const data::PackedBatch& batch) const {
  BatchSize size = batch.size();
  size.tokens /= ranks_.size();
  size.target.tokens /= ranks_.size();
  return size;
}

record::Samples StepCase::measure(kernels::GemmLibrary& free_gemm) {
  record::Samples samples;
  for (std::size_t i = 0; i < batches_.size(); ++i) {
    update_->take_exchange_seconds();
    energy_.take();
    samples["step"] += seconds_of(device_, [&] { step(i); });
    if (const std::optional<double> joules = energy_.take()) samples["joules"] += *joules;
    if (ranks_.size() > 1) samples["exchange"] += update_->take_exchange_seconds();
    const BatchSize rows = own_rows(batches_[i]);
    samples["matmul"] += seconds_of(device_, [&] { products_->run(free_gemm, rows); });
    samples["gemm"] += seconds_of(device_, [&] { products_->run(device_.gemm(), rows); });
    if (order_cost_)
      for (const auto& [quantity, seconds] : order_cost_->measure(uploaded_->shards().front().batch.tokens))
        samples[quantity] += seconds;
  }
  watch(samples);
  for (auto& [quantity, seconds] : samples) seconds /= static_cast<double>(batches_.size());
  return samples;
}

void StepCase::watch(record::Samples& samples) {
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
      const std::optional<kernels::ProductShape> product = kernels::parse_product_label(label);
      std::optional<KernelWork> work;
      if (product)
        work = KernelWork{static_cast<double>(time.calls) * product->flops(),
                          static_cast<double>(time.calls) * product->bytes()};
      else if (!within && ranks_.size() == 1)
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
    // Tiles of a product have the label of the product, which is already counted.
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
  for (const data::PackedBatch& batch : batches_) {
    real += static_cast<double>(batch.real_tokens);
    rows += static_cast<double>(batch.size().tokens + batch.size().target.tokens);
    sequences += static_cast<double>(batch.sequences.size());
    flops += products_->flops(own_rows(batch));
  }
  const memory::ParameterBlock& parameters = model_->parameters();
  nlohmann::json list = nlohmann::json::array();
  for (const Reduction& reduction : reductions())
    list.push_back({{"name", reduction.name},
                    {"kernels", reduction.kernels},
                    {"fixed", reduction.fixed},
                    {"free", reduction.free}});
  nlohmann::json facts = {{"batches", batches_.size()},
                          {"tokens", real / count},
                          {"rows", rows / count},
                          {"sequences", sequences / count},
                          {"longest", std::max(largest_.longest, largest_.target.longest)},
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
  if (!gradient_digest_.empty()) facts["gradient_digest"] = gradient_digest_;
  return facts;
}

}  // namespace encore::bench
