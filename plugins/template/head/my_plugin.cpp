// Head "my_plugin": a class for each row by softmax over logits z = x W^T + b, trained with the focal loss,
// which weights wrong rows more (Lin et al. 2017). With p the probability of the right class:
//   loss = -(1 - p)^gamma log p
//   dloss/dz[k] = (1 - p)^gamma (gamma p log p / (1 - p) - 1) ([k is right] - p[k])
// The model calls it through Head (encore/head.hpp). You may change everything here; README.md lists the
// rules.
#include <encore/kernels.hpp>
#include <encore/math.hpp>
#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

namespace my_plugin_head {

using namespace encore;

/// What loss and gradient of a row both need. S: the type of sums; z: (K).
template <class S>
struct Focus {
  S largest, sum;  ///< of z; of e^(z - largest)
  S log_right;     ///< log p
  S power;         ///< (1 - p)^gamma
  S slope;         ///< log p / (1 - p), -1 where p = 1

  template <class T>
  KOKKOS_FUNCTION Focus(const Row& row, const T* z, std::int64_t classes, std::int32_t target, S gamma) {
    largest = row.max<S>(classes, [&](std::int64_t k) { return static_cast<S>(z[k]); });
    const S shift = largest, right = static_cast<S>(z[target]) - shift;
    const S others = row.sum<S>(classes, [&](std::int64_t k) {
      return k == target ? S(0) : math::exp(static_cast<S>(z[k]) - shift);
    });
    sum = others + math::exp(right);
    const S rest = others / sum;  // 1 - p, without cancellation
    log_right = right - math::log(sum);
    power = gamma > S(0) ? math::exp(gamma * math::log(rest)) : S(1);
    slope = rest > S(0) ? log_right / rest : S(-1);
  }
};

/// logits: (rows, K); targets: (rows); losses: (rows), zero if a row has no target.
template <class T>
void focal_loss(const Device& device, Tensor logits, Tensor targets, double gamma, Tensor losses) {
  using S = Sum<T>;
  const std::int64_t classes = logits.extent(1);
  const T* in = elements<T>(logits);
  const std::int32_t* wanted = elements<std::int32_t>(targets);
  S* out = elements<S>(losses);
  const S exponent = static_cast<S>(gamma);
  for_rows(
      device, "my_plugin::focal_loss", logits.extent(0), KOKKOS_LAMBDA(const Row& row) {
        S loss = S(0);
        if (const std::int32_t target = wanted[row.index]; target != no_target) {
          const Focus<S> focus(row, in + row.index * classes, classes, target, exponent);
          loss = -focus.power * focus.log_right;
        }
        row.once([&] { out[row.index] = loss; });
      });
}

/// dlogits: (rows, K), overwritten with the gradient of scale * sum(losses).
template <class T>
void focal_loss_backward(const Device& device, Tensor logits, Tensor targets, double gamma, double scale,
                         Tensor dlogits) {
  using S = Sum<T>;
  const std::int64_t classes = logits.extent(1);
  const T* in = elements<T>(logits);
  const std::int32_t* wanted = elements<std::int32_t>(targets);
  T* out = elements<T>(dlogits);
  const S exponent = static_cast<S>(gamma), factor = static_cast<S>(scale);
  for_rows(
      device, "my_plugin::focal_loss_backward", logits.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const T* z = in + row.index * classes;
        T* dz = out + row.index * classes;
        const std::int32_t target = wanted[row.index];
        if (target == no_target) {
          row.each(classes, [&](std::int64_t k) { dz[k] = static_cast<T>(S(0)); });
          return;
        }
        const Focus<S> focus(row, z, classes, target, exponent);
        const S right = math::exp(focus.log_right);
        const S common = factor * focus.power * (exponent * right * focus.slope - S(1));
        row.each(classes, [&](std::int64_t k) {
          const S probability = math::exp(static_cast<S>(z[k]) - focus.largest) / focus.sum;
          dz[k] = static_cast<T>(common * ((k == target ? S(1) : S(0)) - probability));
        });
      });
}

class MyPluginHead final : public Head {
 public:
  static Schema options() {
    return Schema().number(
        "gamma", 2.0,
        {.help = "how little a row counts that is already right; 0: cross-entropy", .min = 0.0, .max = 10.0});
  }

  /// Rows are those with targets: tokens, whole sequences, or rows that the task picks.
  MyPluginHead(const Options& options, const HeadContext& context)
      : classes_(context.classes), gamma_(options.number("gamma")) {
    if (context.label_smoothing > 0.0)
      throw Error("the focal loss has no label smoothing: set train.label_smoothing = 0");
    if (const ColumnRule* targets = context.column(targets_column)) space_ = targets->space;
  }

  void declare(HeadPlan& plan) override {
    const Extent rows = rows_of(space_);
    states_ = plan.read(space_);
    targets_ = plan.column(targets_column, space_, ColumnType::integers, classes_);
    predictions_ = plan.output(classes_output, space_);
    loss_ = plan.add_loss(targets_);
    weight_ = plan.matrix("weight", classes_, plan.width());
    bias_ = plan.bias("bias", classes_);
    logits_ = plan.buffer("logits", {rows, classes_}, Lifetime::saved);
    dlogits_ = plan.buffer("logits_gradient", {rows, classes_}, Lifetime::backward);
  }

  void score(const HeadStep& step) override {
    kernels::linear(step.device(), step.input(states_), step.parameter(weight_), step.parameter(bias_),
                    kernels::Activation::none, step.buffer(logits_));
  }

  void loss(const HeadStep& step) override {
    const Tensor logits = step.buffer(logits_), targets = step.column(targets_);  // (rows, K), (rows)
    dispatch(logits.dtype, [&](auto type) {
      focal_loss<decltype(type)>(step.device(), logits, targets, gamma_, step.losses(loss_));
    });
  }

  /// Adds to the gradients of parameters, and overwrites the gradient of the states.
  void backward(const HeadStep& step) override {
    const Tensor logits = step.buffer(logits_), dlogits = step.buffer(dlogits_);  // (rows, K) each
    dispatch(logits.dtype, [&](auto type) {
      focal_loss_backward<decltype(type)>(step.device(), logits, step.column(targets_), gamma_,
                                          step.scale(loss_), dlogits);
    });
    kernels::linear_backward_parameters(step.device(), dlogits, step.input(states_), step.gradient(weight_),
                                        step.gradient(bias_));
    kernels::linear_backward_input(step.device(), dlogits, step.parameter(weight_),
                                   step.input_gradient(states_));
  }

  void decode(const HeadStep& step) override {
    kernels::argmax(step.device(), step.buffer(logits_), step.output(predictions_));
  }

 private:
  std::int64_t classes_;
  double gamma_;
  Space space_ = Space::tokens;
  HeadInput states_;
  HeadColumn targets_;
  HeadLoss loss_;
  HeadOutput predictions_;
  Parameter weight_, bias_;
  Buffer logits_, dlogits_;
};

}  // namespace my_plugin_head

ENCORE_PLUGIN("my_plugin", "1.0.0") {
  plugin.add<encore::Kind::head, my_plugin_head::MyPluginHead>("my_plugin");
}
