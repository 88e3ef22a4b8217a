// SPDX-License-Identifier: BSD-3-Clause
// Checks layers in generation: a causal stack that gets a sequence in several passes, each with a few more
// tokens, must compute for each row the bits that it computes for this row in the whole sequence. Memory that
// was not written holds NaN, also in the cache. layer_checks.cpp calls check_generation(); read suite.hpp
// first. Plugins of other authors must pass it, so it may demand only what encore/layer.hpp promises.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "contract/suite.hpp"
#include "contract/trial.hpp"
#include "kernels/products/gemm.hpp"
#include "memory/device_memory.hpp"
#include "plugin_host/make_offer.hpp"

namespace encore::contract {
namespace {

using Lengths = std::vector<std::int64_t>;

const Lengths texts{19, 1, 40, 6}, sources{3, 5, 1, 9};
constexpr std::int64_t capacity = 41;

/// A layer under test with four sequences.
class GeneratingLayer {
 public:
  GeneratingLayer(const Device& device, std::unique_ptr<Layer> layer, std::int64_t width, DType type)
      : device_(device),
        layer_(std::move(layer)),
        type_(type),
        plan_(width),
        whole_(texts),
        sources_(sources),
        cache_(Lengths(texts.size(), capacity)),
        memory_(device, declare(), size_of(whole_, true), type, 1),
        input_(rows_of(whole_, 1)),
        source_rows_(rows_of(sources_, 2)) {}

  bool continues_texts() const { return plan_.continues_texts(); }

  std::vector<double> whole_text() {
    memory_.poison();
    return run(whole_, input_.values(), nullptr, true);
  }

  /// Returns the output of several passes, in the order of the whole: first `prompts` rows of each sequence,
  /// then `step` rows of each in every pass.
  std::vector<double> by_passes(const Lengths& prompts, std::int64_t step) {
    memory_.poison();
    const std::vector<double> input = input_.values();
    std::vector<double> output(input.size(), nan);
    Lengths done(texts.size(), 0);
    for (bool first = true; done != texts; first = false) {
      Lengths lengths;
      for (std::size_t s = 0; s < texts.size(); ++s)
        lengths.push_back(std::min(texts[s] - done[s], first ? prompts[s] : step));
      const OwnedBatch batch(lengths, OwnedBatch::default_vocabulary, {}, done);
      std::vector<double> rows;
      copy_rows(lengths, done, [&](auto at, auto) { rows.push_back(input[at]); });
      memory_.poison({Lifetime::persistent});
      const std::vector<double> result = run(batch, rows, &cache_.batch(), first);
      copy_rows(lengths, done, [&](auto at, auto n) { output[at] = result[n]; });
      for (std::size_t s = 0; s < texts.size(); ++s) done[s] += lengths[s];
    }
    return output;
  }

 private:
  const LayerPlan& declare() {
    layer_->declare(plan_);
    return plan_;
  }

  BatchSize size_of(const OwnedBatch& batch, bool generates) const {
    BatchSize size = batch.size();
    size.memory = sources_.batch().size;
    if (generates) size.cache = cache_.batch().size;
    return size;
  }

  OwnedTensor rows_of(const OwnedBatch& batch, std::uint64_t seed) const {
    OwnedTensor tensor(type_, {batch.rows(), plan_.width()});
    tensor.set(normal_values(tensor.tensor().size(), seed));
    return tensor;
  }

  /// Calls body(element of the whole, element of the pass) for the next `lengths` rows of each sequence after
  /// `done`.
  void copy_rows(const Lengths& lengths, const Lengths& done, const auto& body) const {
    std::size_t n = 0;
    for (std::size_t s = 0; s < texts.size(); ++s) {
      const std::int64_t first = (whole_.offsets()[s] + done[s]) * plan_.width();
      for (std::int64_t i = 0; i < lengths[s] * plan_.width(); ++i)
        body(static_cast<std::size_t>(first + i), n++);
    }
  }

  std::vector<double> run(const OwnedBatch& batch, const std::vector<double>& rows, const RowSet* cache,
                          bool first) {
    OwnedTensor x(type_, {batch.rows(), plan_.width()}), y(type_, {batch.rows(), plan_.width()});
    x.set(rows);
    y.fill(nan);
    Step::Bound bound = memory_.bound(false);
    const std::vector<Tensor> buffers = buffers_for(size_of(batch, cache != nullptr));
    bound.buffers = buffers;
    bound.cache = cache;
    bound.first_pass = first;
    if (plan_.reads_memory()) bound.memory = &sources_.batch();
    const std::array<Tensor, 2> inputs = {x, first ? source_rows_.tensor() : Tensor()};
    const kernels::BatchInvariance products(device_, true);
    layer_->forward(Step(device_, batch, false, bound), std::span(inputs).first(plan_.reads_memory() ? 2 : 1),
                    y);
    device_.fence();
    require_within("forward", memory_.overrun());
    require_within("forward", y.overrun("its output"));
    return y.values();
  }

  /// Returns the declared buffers with the extents of a pass.
  std::vector<Tensor> buffers_for(const BatchSize& size) const {
    const std::span<const Tensor> all = memory_.bound(false).buffers;
    std::vector<Tensor> buffers(all.begin(), all.end());
    for (std::size_t i = 0; i < buffers.size(); ++i)
      for (int axis = 0; axis < buffers[i].rank; ++axis)
        buffers[i].extents[static_cast<std::size_t>(axis)] =
            plan_.buffers()[i].shape[static_cast<std::size_t>(axis)].in(size);
    return buffers;
  }

  const Device& device_;
  std::unique_ptr<Layer> layer_;
  DType type_;
  LayerPlan plan_;
  OwnedBatch whole_, sources_, cache_;
  OwnedPlan memory_;
  OwnedTensor input_, source_rows_;
};

/// Returns whether two results agree: in equal bits, or nearly on a GPU, whose products are not
/// batch-invariant.
bool agree(double whole, double passes, DType type) {
  if (memory::host_reaches_device()) return digest_of({whole}) == digest_of({passes});
  const double tolerance = type == DType::float64 ? 1e-11 : type == DType::float32 ? 1e-4 : 0.1;
  return std::abs(whole - passes) <= tolerance * (1.0 + std::abs(whole));
}

/// Returns a number with all digits: two values that differ in their last bit look different.
std::string all_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return text;
}

void require_agreement(const std::vector<double>& whole, const std::vector<double>& passes,
                       std::int64_t width, DType type, const std::string& where) {
  for (std::size_t i = 0; i < whole.size(); ++i)
    if (!agree(whole[i], passes[i], type))
      throw Error("row " + std::to_string(static_cast<std::int64_t>(i) / width) +
                  " has other bits when sequences are "
                  "generated pass by pass, " +
                  where + ": " + all_digits(passes[i]) + " instead of " + all_digits(whole[i]) +
                  "; a layer that is row-wise or caches earlier rows must compute a row from its own and "
                  "those before it, the "
                  "same way whatever rows stand beside it");
}

/// Returns the reason why a layer refuses causal stacks; empty if it accepts them.
std::string refusal_of(const Offer& offer, const Options& options, const LayerContext& context) {
  try {
    plugin_host::make_offer<Kind::layer>(offer, options, context);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

std::string check_generation(const Device& device, const Offer& offer,
                             const std::vector<OptionsVariant>& variants, std::int64_t width,
                             const std::vector<DType>& types) {
  const LayerContext context{.width = width, .max_length = capacity, .block = 0, .blocks = 1, .causal = true};
  for (const OptionsVariant& variant : variants) {
    // The same options were accepted without a causal mask, so a refusal here is about the mask.
    if (const std::string refusal = refusal_of(offer, variant.options, context); !refusal.empty())
      return "refuses a causal stack: " + refusal;
    for (const DType type : types) {
      GeneratingLayer layer(device, plugin_host::make_offer<Kind::layer>(offer, variant.options, context),
                            width, type);
      if (!layer.continues_texts())
        return "works on whole sequences, so a model with it in a causal stack does not generate";
      const std::vector<double> whole = layer.whole_text();
      for (const std::int64_t step : {1, 3})
        require_agreement(whole, layer.by_passes({7, 1, 2, 4}, step), width, type,
                          std::string(name_of(type)) + " with " + variant.name + ", " + std::to_string(step) +
                              " rows at a time");
    }
  }
  return "a sequence pass by pass has the bits of the whole sequence";
}

}  // namespace encore::contract
