// SPDX-License-Identifier: BSD-3-Clause
// Checks layers that report attention weights (HasAttentionWeights): the weights sum to 1, masked keys have
// weight 0, and the weights times the values give the result of the forward pass. The check runs after a pass
// that leaves NaN wherever the layer may not read. layer_checks.cpp calls check_attention(); read suite.hpp
// first. Plugins of other authors must pass it, so it may demand only what encore/attention_weights.hpp
// promises.
#include <algorithm>
#include <array>
#include <cmath>

#include <encore/attention_weights.hpp>

#include "contract/suite.hpp"
#include "contract/trial.hpp"
#include "plugin_host/make_offer.hpp"

namespace encore::contract {
namespace {

const std::vector<std::int64_t> query_lengths{5, 1, 19, 3}, key_lengths{3, 6, 1, 9};

/// Returns the tolerance of a sum of weights around 1, and of the products of weights and values against the
/// result of the pass.
double tolerance_of(DType type) {
  return type == DType::float64 ? 1e-12 : type == DType::float32 ? 1e-5 : 0.05;
}

/// A layer after a forward pass over some sequences.
class ShownLayer {
 public:
  ShownLayer(const Device& device, std::unique_ptr<Layer> layer, const LayerContext& context, DType type)
      : device_(device),
        layer_(std::move(layer)),
        shown_(dynamic_cast<const HasAttentionWeights*>(layer_.get())),
        causal_(context.causal),
        type_(type),
        plan_(context.width),
        batch_(query_lengths),
        sources_(key_lengths),
        memory_(device, declare(), size(), type, 1),
        output_(type, {batch_.rows(), context.width}) {
    OwnedTensor input = rows_of(batch_, 1), memory_rows = rows_of(sources_, 2);
    const std::array<Tensor, 2> inputs = {input, memory_rows};
    memory_.poison();
    layer_->forward(step(), std::span(inputs).first(plan_.reads_memory() ? 2 : 1), output_);
    device_.fence();
  }

  bool has_weights() const { return shown_ != nullptr; }

  /// Returns the number of weights that were compared.
  std::int64_t check() const {
    if (shown_->attention_heads() < 1)
      throw Error("attention_heads says " + std::to_string(shown_->attention_heads()));
    std::int64_t compared = 0;
    for (std::size_t s = 0; s < query_lengths.size(); ++s) compared += check_sequence(s);
    return compared;
  }

 private:
  const LayerPlan& declare() {
    layer_->declare(plan_);
    return plan_;
  }
  BatchSize size() const {
    BatchSize size = batch_.size();
    size.memory = sources_.batch().size;
    return size;
  }
  OwnedTensor rows_of(const OwnedBatch& batch, std::uint64_t seed) const {
    OwnedTensor tensor(type_, {batch.rows(), plan_.width()});
    tensor.set(normal_values(tensor.tensor().size(), seed));
    return tensor;
  }
  Step step() const {
    Step::Bound bound = memory_.bound(false);
    if (plan_.reads_memory()) bound.memory = &sources_.batch();
    return {device_, batch_.batch(), false, bound};
  }
  /// Returns all buffers with NaN replaced by a number, because NaN is not equal to itself.
  std::vector<std::vector<double>> buffers() const {
    std::vector<std::vector<double>> all;
    for (const Tensor& buffer : memory_.bound(false).buffers) {
      if (!buffer || buffer.dtype == DType::int32) continue;
      all.push_back(values_of(buffer));
      std::ranges::replace_if(
          all.back(), [](double value) { return std::isnan(value); }, 1e300);
    }
    return all;
  }
  std::vector<double> values_of(const Tensor& tensor) const {
    const OwnedTensor numbers(DType::float64, {tensor.size()});
    kernels::copy(device_, tensor.reshaped({tensor.size()}), numbers);
    device_.fence();
    return numbers.values();
  }

  /// Returns rows of a slice of a buffer of the layer, `width` values each.
  std::vector<double> rows_in(const kernels::Slice& slice, const char* what) const {
    const std::span<const Tensor> all = memory_.bound(false).buffers;
    const bool own = std::ranges::any_of(all, [&](const Tensor& b) { return b.data == slice.matrix.data; });
    if (!own)
      throw Error(std::string("attention_mixing: `") + what +
                  "` lies in no buffer that the layer has declared; give the one that the forward pass used");
    std::vector<double> rows;
    const std::vector<double> values = values_of(slice.matrix);
    const std::int64_t width = slice.matrix.extent(1);
    for (std::int64_t r = 0; r < slice.matrix.extent(0); ++r)
      for (std::int64_t c = 0; c < slice.width; ++c)
        rows.push_back(values[static_cast<std::size_t>(r * width + slice.first + c)]);
    return rows;
  }

  std::int64_t check_sequence(std::size_t s) const {
    const OwnedBatch& keys = plan_.reads_memory() ? sources_ : batch_;
    const std::int64_t heads = shown_->attention_heads(), rows = query_lengths[s];
    const std::int64_t columns = (plan_.reads_memory() ? key_lengths : query_lengths)[s];
    OwnedTensor weights(sum_type(type_), {heads, rows, columns});
    weights.fill(nan);
    const std::vector<std::vector<double>> before = buffers();
    shown_->attention_weights(step(), static_cast<std::int64_t>(s), weights);
    device_.fence();
    require_within("attention_weights", weights.overrun("its weights"));
    if (buffers() != before)
      throw Error("attention_weights changes the layer's buffers, which are read-only");
    const std::vector<double> found = weights.values();
    const HasAttentionWeights::Mixing mixing = shown_->attention_mixing(step());
    const std::vector<double> values = rows_in(mixing.values, "values"),
                              mixed = rows_in(mixing.mixed, "mixed");
    const std::int64_t head_size = mixing.mixed.width / heads;
    const auto at = [&](std::int64_t h, std::int64_t i, std::int64_t j) {
      return found[static_cast<std::size_t>((h * rows + i) * columns + j)];
    };
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = 0; i < rows; ++i) {
        const std::string where = " of head " + std::to_string(h) + ", query " + std::to_string(i) +
                                  " of sequence " + std::to_string(s) + " (" + name_of(type_) +
                                  (causal_ ? ", causal" : "") + ")";
        double sum = 0.0;
        for (std::int64_t j = 0; j < columns; ++j) {
          if (!(at(h, i, j) >= 0.0 && at(h, i, j) <= 1.0 + tolerance_of(type_)))
            throw Error("weight " + std::to_string(j) + where + " is " + std::to_string(at(h, i, j)) +
                        "; a weight lies between 0 and 1");
          if (causal_ && !plan_.reads_memory() && j > i && at(h, i, j) != 0.0)
            throw Error("weight " + std::to_string(j) + where + " is " + std::to_string(at(h, i, j)) +
                        ", and a causal mask hides that key");
          sum += at(h, i, j);
        }
        if (sum != 0.0 && !(std::abs(sum - 1.0) <= tolerance_of(type_)))
          throw Error("the weights" + where + " sum to " + std::to_string(sum) + ", not to 1");
        for (std::int64_t d = 0; d < head_size; ++d) {
          double product = 0.0;
          const std::int64_t column = (h * head_size + d) % mixing.values.width;
          for (std::int64_t j = 0; j < columns; ++j)
            product +=
                at(h, i, j) *
                values[static_cast<std::size_t>((keys.offsets()[s] + j) * mixing.values.width + column)];
          const double made = mixed[static_cast<std::size_t>((batch_.offsets()[s] + i) * mixing.mixed.width +
                                                             h * head_size + d)];
          if (!(std::abs(product - made) <= tolerance_of(type_) * (1.0 + std::abs(made))))
            throw Error("the weights" + where + " times the values give " + std::to_string(product) +
                        " in channel " + std::to_string(d) + ", but the forward pass has computed " +
                        std::to_string(made));
        }
      }
    return heads * rows * columns;
  }

  const Device& device_;
  std::unique_ptr<Layer> layer_;
  const HasAttentionWeights* shown_;
  bool causal_;
  DType type_;
  LayerPlan plan_;
  OwnedBatch batch_, sources_;
  OwnedPlan memory_;
  OwnedTensor output_;
};

/// Returns the layer with these options at such a place in a model, or null if it refuses the place.
std::unique_ptr<Layer> layer_for(const Offer& offer, const Options& options,
                                 const LayerContext& context) try {
  return plugin_host::make_offer<Kind::layer>(offer, options, context);
} catch (const Error&) {
  return nullptr;
}

}  // namespace

std::string check_attention(const Device& device, const Offer& offer,
                            const std::vector<OptionsVariant>& variants, std::int64_t width,
                            const std::vector<DType>& types) {
  std::int64_t compared = 0;
  for (const bool causal : {false, true})
    for (const OptionsVariant& variant : variants)
      for (const DType type : types) {
        const LayerContext context{
            .width = width, .max_length = 64, .block = 0, .blocks = 1, .causal = causal};
        std::unique_ptr<Layer> made = layer_for(offer, variant.options, context);
        if (made == nullptr) continue;  // a layer may refuse causal stacks; the other kind was made before
        const ShownLayer layer(device, std::move(made), context, type);
        if (!layer.has_weights()) return "it has no attention weights";
        try {
          compared += layer.check();
        } catch (const Error& error) {
          throw Error("with " + variant.name + ": " + error.what());
        }
      }
  return std::to_string(compared) + " weights equal those of the forward pass";
}

}  // namespace encore::contract
