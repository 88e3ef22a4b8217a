// SPDX-License-Identifier: BSD-3-Clause
// Layer "self_attention": every token attends to every token of its sequence (Vaswani et al. 2017). Its code
// is in multi_head_attention.hpp; the other attention layers of this folder change one part of it each. The
// model calls it through Layer (encore/layer.hpp). Experiment files and runs contain its name, so it never
// changes.
#include "multi_head_attention.hpp"

namespace encore_self_attention {

using namespace encore;

class SelfAttention final : public encore_multi_head_attention::MultiHeadAttention {
 public:
  static constexpr const char* summary =
      "multi-head attention over the tokens of each sequence: softmax(Q K^T / sqrt(D)) V, where Q, K and V "
      "are the queries, keys and values of a head, vectors of size D (Vaswani et al. 2017)";
  SelfAttention(const Options& options, const LayerContext& context) : MultiHeadAttention(options, context) {}
};

}  // namespace encore_self_attention

ENCORE_PLUGIN("self_attention", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_self_attention::SelfAttention>("self_attention");
}
