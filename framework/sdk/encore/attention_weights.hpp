// SPDX-License-Identifier: BSD-3-Clause
// HasAttentionWeights: an extension of Layer. A layer inherits it if its output mixes the rows of its keys by
// weights that can be shown, as softmax attention does. After a scoring pass the host calls
// attention_weights() of each such layer (model/attention_maps.hpp, `exp attention`), but never in training
// or generation. The contract suite checks the promises of this header. Below the class are the kernels by
// which softmax attention computes its weights. The header is part of the ABI of plugins: a change needs a
// new ENCORE_SDK_VERSION (plugin.hpp).
#pragma once

#include <cstdint>

#include <encore/kernels.hpp>

namespace encore {

/// A layer inherits HasAttentionWeights beside Layer. Messages name a layer that does not inherit it, such as
/// linear_attention, as a layer without weights.
class HasAttentionWeights {
 public:
  /// The products of the weights: of each head h, mixed = weights_h values_h over the rows of a sequence.
  struct Mixing {
    /// (M, H D), by head; with fewer columns than `mixed` neighbouring heads share theirs (M rows of keys).
    kernels::Slice values;
    kernels::Slice mixed;  ///< (N, H D), by head: what the pass has computed
  };

  virtual ~HasAttentionWeights() = default;
  /// Returns H, the number of heads. The host calls it after declare.
  virtual std::int64_t attention_heads() const = 0;
  /// Writes weights (H, T, T2) in the type of sums: those with which the forward pass has mixed the T2 keys
  /// of sequence `sequence` of the batch for each of its T queries. A row sums to 1. It is 0 if the query
  /// sees no key, and so is the weight of a masked key. The host calls it on the thread of the passes,
  /// immediately after `forward` and with the same step, outside of training and of generations. The layer
  /// must not change its buffers.
  virtual void attention_weights(const Step& step, std::int64_t sequence, Tensor weights) const = 0;
  /// Returns the factors and the result of the products, in buffers of the layer, so that a caller can check
  /// them. The call is allowed when attention_weights() is; the result is valid as long as the step.
  virtual Mixing attention_mixing(const Step& step) const = 0;
};

namespace kernels {

/// Writes weights (H, T, T2) of one sequence, in the type of sums: exp(score - log_sum), computed again from
/// the arguments of attention() and from the log_sum that it wrote; 0 where a key is masked. Dropout is not
/// applied, even if the options set it.
void attention_weights(const Device& device, const RowSet& queries, const RowSet& keys,
                       const AttentionOptions& options, const Slice& q, const Slice& k, Tensor log_sum,
                       std::int64_t sequence, Tensor weights);
/// Writes the weights of one sequence from those that disentangled_attention() keeps in `kept` (sum of T * T,
/// H).
void disentangled_attention_weights(const Device& device, const RowSet& rows, std::int64_t heads, Tensor kept,
                                    std::int64_t sequence, Tensor weights);

}  // namespace kernels
}  // namespace encore
