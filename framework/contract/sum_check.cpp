// SPDX-License-Identifier: BSD-3-Clause
// Checks layers that take a sum of two tensors as their input (LayerPlan::take_sum): from the two they must
// compute the bits that they compute from their sum, made by another kernel before. Gradients need no check
// here, because the other checks compare them for the sum. layer_checks.cpp calls check_sum(); read suite.hpp
// first. Plugins of other authors must pass it, so it may demand only what encore/layer.hpp promises.
#include "contract/suite.hpp"
#include "contract/trial.hpp"
#include "plugin_host/make_offer.hpp"

namespace encore::contract {
namespace {

constexpr RandomKey key{3, 141, 59};

/// A layer under test with the two tensors of its sum, trunk and branch. The sum is made by another kernel
/// before, or by the layer.
class SummedLayer {
 public:
  SummedLayer(const Device& device, std::unique_ptr<Layer> layer, std::int64_t width, DType type,
              double dropout, bool training)
      : device_(device),
        layer_(std::move(layer)),
        type_(type),
        dropout_(dropout),
        training_(training),
        plan_(width),
        batch_({5, 1, 40, 3}),
        memory_(device, declare(), batch_.size(), type, 1),
        trunk_(rows(1)),
        branch_(rows(2)),
        output_gradient_(rows(3)) {}

  bool takes_sum() const { return plan_.takes_sum(); }

  std::vector<TrialResult> made_before() {
    const OwnedTensor x = rows(0), dtrunk = rows(0), dbranch = rows(0);
    kernels::dropout_add(device_, batch_, key, training_ ? dropout_ : 0.0, branch_, trunk_, x);
    std::vector<TrialResult> results = run(x, dtrunk);
    if (!training_) return results;
    kernels::dropout(device_, batch_, key, dropout_, dtrunk, dbranch);
    add_gradients(results, dtrunk, dbranch);
    return results;
  }

  /// Runs the layer, which makes the sum. `shared`: the branch's gradient lies where the trunk's does.
  std::vector<TrialResult> made_within(bool shared) {
    OwnedTensor x = rows(0), trunk = rows(1), dtrunk = rows(0), other = rows(0);
    x.set(branch_.values());
    const OwnedTensor& dbranch = shared ? dtrunk : other;
    std::vector<TrialResult> results = run(x, dbranch, trunk, dtrunk);
    if (trunk.values() != trunk_.values()) throw Error("forward changes the trunk of the sum it takes");
    if (training_) add_gradients(results, dtrunk, dbranch);
    return results;
  }

 private:
  const LayerPlan& declare() {
    layer_->declare(plan_);
    return plan_;
  }

  /// Returns values of the trunk (1), the branch (2) or the output's gradient (3); NaN for 0.
  OwnedTensor rows(std::uint64_t purpose) const {
    OwnedTensor tensor(type_, {batch_.rows(), plan_.width()});
    if (purpose == 0)
      tensor.fill(nan);
    else
      tensor.set(normal_values(tensor.tensor().size(), purpose));
    return tensor;
  }

  /// Runs both passes. x: the place of the sum after forward.
  std::vector<TrialResult> run(const OwnedTensor& x, Tensor dx, Tensor trunk = {}, Tensor dtrunk = {}) {
    const OwnedTensor output = rows(0);
    Step::Bound bound = memory_.bound(training_);
    bound.trunk = trunk;
    bound.trunk_gradient = dtrunk;
    bound.branch_dropout = {dropout_, key};
    const Step step(device_, batch_, training_, bound);
    const Tensor input = x;
    memory_.poison();
    layer_->forward(step, {&input, 1}, output);
    device_.fence();
    require_within("forward", memory_.overrun());
    require_within("forward", output.overrun("its output"));
    require_within("forward", x.overrun("the sum"));
    std::vector<TrialResult> results{{"output", output.values(), plan_.width()}};
    if (!training_) return results;
    if (plan_.reads_input()) results.push_back({"sum", x.values(), plan_.width()});
    for (OwnedTensor& gradient : memory_.gradients()) gradient.fill(0.0);
    layer_->backward(step, {&input, 1}, output, output_gradient_, {&dx, 1});
    return results;
  }

  void add_gradients(std::vector<TrialResult>& results, const OwnedTensor& dtrunk,
                     const OwnedTensor& dbranch) {
    device_.fence();
    require_within("backward", memory_.overrun());
    require_within("backward", dtrunk.overrun("the gradient of the trunk"));
    require_within("backward", dbranch.overrun("the gradient of the branch"));
    results.push_back({"gradient of the trunk", dtrunk.values(), plan_.width()});
    results.push_back({"gradient of the branch", dbranch.values(), plan_.width()});
    for (std::size_t i = 0; i < plan_.parameters().size(); ++i)
      results.push_back({"gradient of " + plan_.parameters()[i].name, memory_.gradients()[i].values(), 0});
  }

  const Device& device_;
  std::unique_ptr<Layer> layer_;
  DType type_;
  double dropout_;
  bool training_;
  LayerPlan plan_;
  OwnedBatch batch_;
  OwnedPlan memory_;
  OwnedTensor trunk_, branch_, output_gradient_;
};

void require_equal(const std::vector<TrialResult>& before, const std::vector<TrialResult>& within,
                   const std::string& where) {
  for (std::size_t i = 0; i < before.size(); ++i)
    if (digest_of(before[i].values) != digest_of(within[i].values))
      throw Error(
          before[i].name + " has other bits when the layer adds up its input, " + where +
          "; a layer that takes a sum must round it to the type of activations, as a sum made before it, "
          "leave it in the branch and give trunk and branch their gradients");
}

}  // namespace

std::string check_sum(const Device& device, const Offer& offer, const Options& options, std::int64_t width,
                      const std::vector<DType>& types) {
  const LayerContext context{.width = width, .max_length = 40, .block = 0, .blocks = 1};
  for (const DType type : types)
    for (const double dropout : {0.0, 0.1})
      for (const bool training : {true, false}) {
        SummedLayer layer(device, plugin_host::make_offer<Kind::layer>(offer, options, context), width, type,
                          dropout, training);
        if (!layer.takes_sum()) return "does not add up its input itself";
        const std::vector<TrialResult> before = layer.made_before();
        const std::string where = std::string(name_of(type)) + ", dropout " + (dropout > 0.0 ? "0.1" : "0") +
                                  (training ? "" : ", evaluation");
        require_equal(before, layer.made_within(false), where);
        if (training && dropout == 0.0) require_equal(before, layer.made_within(true), where);
      }
  return "the input as a sum gives the bits of the sum as an input";
}

}  // namespace encore::contract
