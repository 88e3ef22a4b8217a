// Every layer and head that a built-in plugin offers, under its defaults and with each of its options
// changed: gradients of parameters and inputs in double, and the contract of encore/layer.hpp (see
// layer_harness.hpp).
#include <gtest/gtest.h>

#include "contract/layer_harness.hpp"

namespace encore::testing {
namespace {

constexpr std::int64_t width = 8;

struct Variant {
  std::string name;
  Options options;
};

/// The defaults, then each option by itself: every other choice, a flag turned, an attention_dropout.
std::vector<Variant> variants(const Schema& schema) {
  std::vector<Variant> all{{"defaults", defaults(schema)}};
  const auto add = [&](const Option& option, const std::string& text, OptionValue value) {
    if (option.fallback && *option.fallback == value) return;
    all.push_back({option.name + " = " + text, defaults(schema)});
    all.back().options.set(option.name, std::move(value));
  };
  for (const Option& option : schema.options()) {
    for (const std::string& choice : option.choices) add(option, choice, choice);
    if (option.type == OptionType::boolean) add(option, "other", !std::get<bool>(*option.fallback));
    if (option.name.ends_with("dropout")) add(option, "0.4", 0.4);
    if (option.name == "heads") add(option, "1", std::int64_t{1});
    if (option.name == "hidden") add(option, "3", std::int64_t{3});
  }
  return all;
}

std::vector<PackedBatch> batches() {
  return {tiny_batch(2), make_batch({1}, 11, 5, 3), make_batch({2, 2, 7}, 11, 5, 4)};
}

/// A point away from kinks: other numbers until no tensor has a kink in every direction.
GradientReport away_from_kinks(const std::function<GradientReport(std::uint64_t)>& check) {
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    GradientReport report = check(seed);
    if (!report.near_kink) return report;
  }
  throw Error("no point without a kink nearby");
}

void expect_right(const GradientReport& report, const std::string& what) {
  EXPECT_TRUE(report.mismatches.empty()) << what << "\n" << report.text();
  EXPECT_GT(report.compared, 0) << what;
  EXPECT_LE(report.largest_error, GradientCheck::tolerance) << what;
}

TEST(LayerContract, EveryLayerOfEveryPlugin) {
  const Registry registry = load_builtin_plugins();
  int layers = 0;
  for (const Offer& offer : registry.all(Kind::layer))
    for (const Variant& variant : variants(offer.options))
      for (const PackedBatch& batch : batches()) {
        const auto check = [&](std::uint64_t seed) {
          const auto layer = registry.make_layer(offer.name, variant.options, {width, 9, 0, 1});
          return check_layer(*layer, width, batch, seed);
        };
        expect_right(away_from_kinks(check), offer.name + ", " + variant.name);
        ++layers;
      }
  EXPECT_GE(layers, 3 * 6) << "layer_norm, self_attention and feed_forward with their variants";
}

/// A head need not smooth labels, but then it says so.
bool refuses_smoothing(const Registry& registry, const std::string& name, const Options& options,
                       const HeadContext& context) {
  try {
    registry.make_head(name, options, context);
    return false;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("set train.label_smoothing = 0"), std::string::npos)
        << name << " is refused for another reason: " << error.what();
    return true;
  }
}

TEST(LayerContract, EveryHeadOfEveryPlugin) {
  const Registry registry = load_builtin_plugins();
  int heads = 0;
  for (const Offer& offer : registry.all(Kind::head))
    for (const Variant& variant : variants(offer.options))
      for (const double smoothing : {0.0, 0.2}) {
        const HeadContext context{width, 5, smoothing, tiny_size().labels};
        if (smoothing > 0.0 && refuses_smoothing(registry, offer.name, variant.options, context)) continue;
        for (const PackedBatch& batch : batches()) {
          const auto check = [&](std::uint64_t seed) {
            const auto head = registry.make_head(offer.name, variant.options, context);
            return check_head(*head, width, batch, seed);
          };
          expect_right(away_from_kinks(check), offer.name + ", " + variant.name);
          ++heads;
        }
      }
  EXPECT_GE(heads, 2 * 2 * 3 + 2 * 3) << "linear with and without smoothing, crf without";
}

/// Copies its input, and breaks one rule of the contract.
class RuleBreaker final : public Layer {
 public:
  enum class Rule { reads_input_after_all, reads_forward_scratch, changes_output_gradient };
  explicit RuleBreaker(Rule rule) : rule_(rule) {}

  void declare(LayerPlan& plan) override {
    scratch_ = plan.buffer("scratch", {tokens, plan.width()}, Lifetime::forward);
    plan.backward_reads(false, false);
  }
  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    copy(step, inputs[0], step.buffer(scratch_));
    copy(step, inputs[0], output);
  }
  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    copy(step, output_gradient, input_gradients[0]);
    if (rule_ == Rule::changes_output_gradient) copy(step, step.buffer(scratch_), output_gradient);
    const Tensor read = rule_ == Rule::reads_input_after_all ? inputs[0] : step.buffer(scratch_);
    if (rule_ != Rule::changes_output_gradient && std::isnan(to_host(step.device(), read)[0]))
      copy(step, read, input_gradients[0]);
  }

 private:
  static void copy(const Step& step, Tensor from, Tensor to) {
    to_device(step.device(), to_host(step.device(), from), to);
  }
  Rule rule_;
  Buffer scratch_;
};

GradientReport check_breaker(RuleBreaker::Rule rule) {
  RuleBreaker layer(rule);
  return check_layer(layer, width, tiny_batch(), 1);
}

TEST(LayerContractMutation, AnInputThatIsNotKeptIsMissed) {
  EXPECT_NE(check_breaker(RuleBreaker::Rule::reads_input_after_all)
                .text()
                .find("input along a random direction: analytic nan"),
            std::string::npos);
}

TEST(LayerContractMutation, ForwardScratchIsGoneInBackward) {
  EXPECT_FALSE(check_breaker(RuleBreaker::Rule::reads_forward_scratch).mismatches.empty());
}

TEST(LayerContractMutation, TheOutputGradientIsReadOnly) {
  EXPECT_THROW(check_breaker(RuleBreaker::Rule::changes_output_gradient), Error);
}

}  // namespace
}  // namespace encore::testing
