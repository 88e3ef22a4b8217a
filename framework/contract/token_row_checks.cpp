// SPDX-License-Identifier: BSD-3-Clause
// Checks optimizers on a table with one row per token: an update that gets the list of rows with a gradient
// must compute the bits of one that reads zeros for the others. optimizer_checks.cpp calls
// check_token_rows(); read suite.hpp first. Plugins of other authors must pass it, so it may demand only what
// encore/optimizer.hpp promises.
#include <algorithm>

#include "contract/suite.hpp"
#include "contract/test_memory.hpp"
#include "memory/parameter_block.hpp"
#include "plugin_host/make_offer.hpp"

namespace encore::contract {
namespace {

constexpr std::int64_t table_rows = 12, table_width = 300;

/// An optimizer with a table of tokens and a bias. `told`: the optimizer gets the list of rows with a
/// gradient.
class TableTrial {
 public:
  TableTrial(const Device& device, const Offer& offer, bool told)
      : device_(device),
        optimizer_(
            plugin_host::make_offer<Kind::optimizer>(offer, plugin_host::default_options(offer.options), {})),
        block_(device,
               {{"layer.bias", {"bias", {64}, Initializer::zeros, 0.0, false}},
                {"layer.table", {.name = "table", .shape = {table_rows, table_width}, .token_rows = true}}},
               DType::float32, 1),
        told_(told) {
    block_.make_states(optimizer_->states());
    write(block_.values(), normal_values(block_.values().size(), 1));
  }

  /// Makes one update, in which the bias and the rows of these tokens, sorted, have a gradient.
  void step(const std::vector<double>& tokens) {
    block_.zero_gradients();
    mark(tokens);
    const memory::ParameterSlice& table = block_.find("layer.table");
    std::vector<double> gradients = normal_values(block_.values().size(), 100 + ++steps_);
    for (std::int64_t i = 0; i < table.size; ++i)
      if (std::find(tokens.begin(), tokens.end(), static_cast<double>(i / table_width)) == tokens.end())
        gradients[static_cast<std::size_t>(table.begin + i)] = 0.0;
    write(block_.gradients(), gradients);
    Blocks blocks = block_.blocks(nullptr);
    if (!told_) blocks.chunk_gradients = nullptr;
    optimizer_->update(device_, blocks, 0.01, static_cast<std::int64_t>(steps_));
    device_.fence();
  }

  /// Returns a digest of the values, then each state.
  std::string digest() const {
    std::vector<double> all;
    const auto append = [&](Tensor block) {
      const OwnedTensor copy(DType::float32, {block.size()});
      kernels::copy(device_, block, copy);
      device_.fence();
      for (const double value : copy.values()) all.push_back(value);
    };
    append(block_.values());
    for (std::size_t i = 0; i < optimizer_->states().size(); ++i) append(block_.state(i));
    return digest_of(all);
  }

 private:
  void write(Tensor block, const std::vector<double>& values) {
    OwnedTensor tensor(DType::float32, {block.size()});
    tensor.set(values);
    kernels::copy(device_, tensor, block);
    device_.fence();
  }
  void mark(const std::vector<double>& tokens) {
    const auto count = static_cast<std::int64_t>(tokens.size());
    OwnedTensor ids(DType::int32, {count}), order(DType::int32, {count});
    std::vector<double> rows(tokens.size());
    std::iota(rows.begin(), rows.end(), 0.0);
    ids.set(tokens);
    order.set(rows);
    RowSet batch;
    batch.size.tokens = count;
    batch.ids = ids;
    batch.order = order;
    block_.mark_rows(batch);
    device_.fence();
  }

  const Device& device_;
  std::unique_ptr<Optimizer> optimizer_;
  memory::ParameterBlock block_;
  bool told_;
  std::uint64_t steps_ = 0;
};

}  // namespace

std::string check_token_rows(const Device& device, const Offer& offer) {
  TableTrial told(device, offer, true), reading(device, offer, false);
  int step = 0;
  for (const std::vector<double>& tokens :
       {std::vector<double>{0, 3}, {3}, {}, {0, 5, 11}, {7}, {3, 7}, {1}}) {
    told.step(tokens);
    reading.step(tokens);
    ++step;
    if (told.digest() != reading.digest())
      throw Error("in step " + std::to_string(step) +
                  " an update that knows which rows have no gradient gives other bits than one that reads "
                  "their zeros; see ChunkGradient in encore/optimizer.hpp");
  }
  return "seven steps with some rows of a table each, with and without that knowledge: equal bits";
}

}  // namespace encore::contract
