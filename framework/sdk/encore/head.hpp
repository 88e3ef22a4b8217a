// Head: the last part of a model, which turns states into a loss and into predictions.
// A linear classifier and a conditional random field are both heads: what a target is, only task and head know.
// Place in the flow: model/ calls loss and backward in training, decode in evaluation. See layer.hpp for Step.
#pragma once

#include <encore/examples.hpp>
#include <encore/layer.hpp>

namespace encore {

struct HeadContext {
  std::int64_t width = 0;    ///< C
  std::int64_t classes = 0;  ///< K
  double label_smoothing = 0.0;
  std::vector<std::string> labels;  ///< the names of the classes, for heads that know about tagging schemes
};

class Head {
 public:
  virtual ~Head() = default;
  /// As Layer::declare. Buffers of lifetime `saved` live from `loss` to `backward`.
  virtual void declare(LayerPlan& plan) = 0;
  /// states: (N, C); targets: (N) int32, `no_target` where a row has none; losses: (N) in the type of sums, overwritten:
  /// each row's share of the unnormalised loss, zero without a target. The host sums them in row order.
  virtual void loss(const Step& step, Tensor states, Tensor targets, Tensor losses) = 0;
  /// After `loss` on the same batch: gradients of scale * sum(losses). state_gradients: (N, C), overwritten.
  virtual void backward(const Step& step, Tensor states, Tensor targets, double scale, Tensor state_gradients) = 0;
  /// states: (N, C); mask: (N) int32 as the targets of `loss`, `no_target` on rows that carry no label;
  /// predictions: (N) int32, overwritten: the class of each row, on rows without a label anything.
  virtual void decode(const Step& step, Tensor states, Tensor mask, Tensor predictions) = 0;
};

}  // namespace encore
