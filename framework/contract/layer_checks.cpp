// SPDX-License-Identifier: BSD-3-Clause
// The list of checks for layers and heads (layer_checks, called by suite.cpp): gradients, the rules of
// encore/layer.hpp, equal bits, lengths of sequences, precisions. A new rule for layers becomes a check here.
// Plugins of other authors must pass them, so a check may demand only what the headers of the SDK promise.
// Read suite.hpp for the suite and trial.hpp for the layer under test.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "contract/head_trial.hpp"
#include "contract/suite.hpp"
#include "contract/trial.hpp"
#include "kernels/products/gemm.hpp"

namespace encore::contract {
namespace {

constexpr std::int64_t longest = 64;  // the sequence of maximum length

/// Returns the precisions that a run may have on this device, beside float64.
std::vector<DType> run_precisions(const Device& device) {
  std::vector<DType> precisions = {DType::float32};
  for (const DType type : {DType::bfloat16, DType::float16})
    if (device.gemm().multiplies(type)) precisions.push_back(type);
  return precisions;
}

/// Returns the width of the small checks. Narrow widths make numeric differences cheap; a plugin whose
/// defaults need more gets more.
std::int64_t fitting_width(const Device& device, const Offer& offer, const Options& options) {
  std::string refused;
  for (const std::int64_t width : {8, 16, 32, 64, 128})
    for (const Space targets : {Space::tokens, Space::sequences, Space::picked}) {
      if (offer.kind != Kind::head && targets != Space::tokens) continue;
      try {
        make_trial(device, offer, options, {.width = width, .lengths = {2}, .targets = targets});
        return width;
      } catch (const OptionError& error) {
        refused = error.what();
      } catch (const Error&) {
        if (targets == Space::picked || offer.kind != Kind::head) throw;  // it accepts no task
      }
    }
  throw Error("refuses its default options at every width from 8 to 128: " + refused);
}

/// The checks of one offer, and the state that they share.
class LayerChecks {
 public:
  LayerChecks(const Device& device, const Offer& offer, std::vector<LargeSize> sizes = {})
      : device_(device),
        offer_(offer),
        defaults_(plugin_host::default_options(offer.options)),
        sizes_(std::move(sizes)) {}

  std::string declaration() {
    return check_declaration(offer_, usable_variants(), width(), [&](const Options& options, bool training) {
      return make_trial(device_, offer_, options,
                        {.width = width(), .training = training, .targets = usable_spaces().front()});
    });
  }

  std::string gradients() {
    int compared = 0, arrangements = 0;
    double largest = 0.0;
    const std::vector<double> smoothings = usable_smoothings();
    const auto compare = [&](const OptionsVariant& variant, const TrialSetup& setup, double smoothing) {
      const GradientReport report = check_gradients([&](std::uint64_t seed) {
        TrialSetup seeded = setup;
        seeded.seed = seed;
        return make_trial(device_, offer_, variant.options, seeded, smoothing);
      });
      if (!report.mismatches.empty())
        throw Error(
            "with " + variant.name + ", sequences of lengths " + text(setup.lengths) +
            (setup.targets == Space::tokens ? "" : std::string(", targets over ") + name_of(setup.targets)) +
            (setup.weighed ? ", weights of targets" : "") + (setup.taught ? ", a teacher" : "") +
            (smoothing > 0.0 ? ", label smoothing" : "") + ":\n" + report.text());
      compared += report.compared;
      largest = std::max(largest, report.largest_error);
      ++arrangements;
    };
    const bool weighed = takes_weights(device_, offer_, defaults_,
                                       {.width = width(), .lengths = {2}, .targets = usable_spaces()[0]});
    for (const OptionsVariant& variant : usable_variants())
      for (const Lengths& lengths : {Lengths{5, 1, 9, 3}, Lengths{1}, Lengths{2, 2, 7}})
        for (const Space targets : usable_spaces()) {
          TrialSetup setup{.width = width(), .lengths = lengths, .targets = targets};
          for (const double smoothing : smoothings) compare(variant, setup, smoothing);
          setup.weighed = true;
          if (weighed) compare(variant, setup, 0.0);
          setup.weighed = false;
          setup.taught = true;
          if (!takes_teacher()) continue;
          for (const double smoothing : smoothings) compare(variant, setup, smoothing);
          setup.weighed = true;
          if (weighed) compare(variant, setup, 0.0);
        }
    char error[32];
    std::snprintf(error, sizeof(error), "%.1e", largest);
    return std::to_string(compared) + " derivatives in " + std::to_string(arrangements) +
           " arrangements, largest relative error " + error;
  }

  /// Checks that `backward` overwrites the gradients of inputs; gradients() has checked that it adds to those
  /// of parameters.
  std::string overwrites() {
    const auto made = trial({.width = width()});
    made->forward();
    made->backward(0.0);
    const std::vector<TrialResult> first = made->results();
    made->forward();
    made->backward(1.0);
    require_equal(first, made->results(), "when the input's gradient held 1 before instead of 0",
                  "; backward must overwrite it, not add to it");
    return "the input's gradient is overwritten";
  }

  std::string same_seed_same_bits() {
    const auto run = [&] {
      return results({.width = width(), .lengths = {5, 1, 40, 3}, .type = DType::float32});
    };
    require_equal(run(), run(), "in a second object with the same seed", "");
    return "two objects compute equal bits";
  }

  std::string lengths() {
    for (const bool training : {true, false})
      for (const Lengths& lengths : {Lengths{}, Lengths{1}, Lengths{0, 1, 0}, Lengths{longest, 1, longest}})
        for (const TrialResult& result :
             results({.width = width(), .lengths = lengths, .type = DType::float32, .training = training}))
          for (const double value : result.values)
            if (!std::isfinite(value))
              throw Error(result.name + " is not finite for sequences of lengths " + text(lengths) +
                          (training ? "" : " in evaluation"));
    return "no sequence, empty ones, single tokens and " + std::to_string(longest) + " tokens";
  }

  /// Checks that the rows of a sequence do not depend on the rest of the batch.
  std::string packing() {
    if (couples_sequences()) return "its loss depends on the whole batch, as it declares";
    for (const bool training : {true, false})
      for (const Space targets : usable_spaces())
        require_packing({.width = width(),
                         .lengths = {4, 9, 1, 6},
                         .examples = {3, 17, 20, 41},
                         .training = training,
                         .targets = targets});
    return "a sequence gives the same numbers in any batch";
  }

  /// Checks a larger size, beyond the vectors and tiles of kernels: gradients, every precision, and that a
  /// sequence does not depend on its neighbours.
  std::string large_sizes() {
    std::string done;
    for (const LargeSize& size : sizes_) {
      const std::int64_t wide = width_of(size);
      const std::string where = " at width " + std::to_string(wide) + " with sequences of up to " +
                                std::to_string(size.length) + " rows";
      const TrialSetup setup{.width = wide,
                             .lengths = {3, size.length, 7},
                             .examples = {3, 17, 20},
                             .targets = usable_spaces().front()};
      const GradientReport report = check_gradients(
          [&](std::uint64_t seed) {
            TrialSetup seeded = setup;
            seeded.seed = seed;
            return make_trial(device_, offer_, defaults_, seeded);
          },
          std::sqrt(static_cast<double>(wide * (size.length + 10))));
      if (!report.mismatches.empty()) throw Error("the gradients are wrong" + where + ":\n" + report.text());
      try {
        if (!couples_sequences()) require_packing(setup);
        require_precisions(setup);
      } catch (const Error& error) {
        throw Error(error.what() + where);
      }
      done += (done.empty() ? "" : ", ") + std::to_string(wide) + " x " + std::to_string(size.length);
    }
    return "gradients, packing and precisions at width x rows " + done;
  }

  /// Checks evaluation; of a head with each label smoothing that it takes.
  std::string evaluation() {
    std::string done;
    for (const double smoothing : usable_smoothings())
      for (const Space targets : usable_spaces())
        for (const DType type : {DType::float32, DType::float64})
          done =
              check_evaluation(usable_variants(), offer_.options, [&](const Options& options, bool training) {
                const TrialSetup setup{.width = width(),
                                       .lengths = {5, 1, 30, 3},
                                       .type = type,
                                       .training = training,
                                       .targets = targets};
                return make_trial(device_, offer_, options, setup, smoothing);
              });
    return done;
  }

  std::string precision() {
    require_precisions({.width = width(), .lengths = {5, 1, 30, 3}});
    const std::vector<DType> precisions = run_precisions(device_);
    std::string names;
    for (const DType type : precisions) names += (names.empty() ? "" : " and ") + std::string(name_of(type));
    if (precisions.size() > 1) return names + " agree with float64";
    return "float32 agrees with float64; this backend has no bfloat16 products";
  }

  std::string sum() {
    std::vector<DType> types = run_precisions(device_);
    types.push_back(DType::float64);
    return check_sum(device_, offer_, defaults_, width(), types);
  }

  std::string generation() {
    std::vector<DType> types = run_precisions(device_);
    types.push_back(DType::float64);
    return check_generation(device_, offer_, usable_variants(), width(), types);
  }

  std::string attention() {
    std::vector<DType> types = run_precisions(device_);
    types.push_back(DType::float64);
    return check_attention(device_, offer_, usable_variants(), width(), types);
  }

  std::string onnx() {
    std::vector<LargeSize> sizes = {{.width = width(), .length = 19}};
    for (const LargeSize& size : sizes_) sizes.push_back({.width = width_of(size), .length = size.length});
    return check_onnx(device_, offer_, usable_variants(), usable_spaces(), sizes);
  }

  std::string step_allocates_nothing() {
    for (const DType type : run_precisions(device_)) {
      step_allocates_nothing({.width = width(), .lengths = {5, 1, 40, 3}, .type = type});
      if (takes_teacher())
        step_allocates_nothing({.width = width(), .lengths = {5, 1, 40, 3}, .type = type, .taught = true});
    }
    return "a second pass allocates no Kokkos memory";
  }

  void step_allocates_nothing(const TrialSetup& setup) {
    const auto made = trial(setup);
    made->forward();
    made->backward();
    made->prepare_forward();
    {
      const KokkosWatch watch;
      made->launch_forward();
      require_silent(watch, "forward");
    }
    made->prepare_backward(0.0);
    const KokkosWatch watch;
    made->launch_backward();
    require_silent(watch, "backward");
  }

  std::string labels() {
    const auto made = trial({.width = width(), .type = DType::float32});
    std::set<std::string> kernels;
    made->prepare_forward();
    {
      const KokkosWatch watch;
      made->launch_forward();
      require_labels(watch);
      for (const std::string& label : watch.kernels()) kernels.insert(label);
    }
    made->prepare_backward(0.0);
    const KokkosWatch watch;
    made->launch_backward();
    require_labels(watch);
    for (const std::string& label : watch.kernels()) kernels.insert(label);
    std::string all;
    for (const std::string& label : kernels) all += (all.empty() ? "" : ", ") + label;
    return all;
  }

  std::map<std::string, std::string> digests() {
    std::map<std::string, std::string> all;
    const std::int64_t wide = 12 * width();
    std::vector<DType> precisions = run_precisions(device_);
    precisions.push_back(DType::float64);
    for (const DType type : precisions)
      for (const bool taught : {false, true}) {
        if (taught && !takes_teacher()) continue;
        const auto made = trial({.width = wide,
                                 .lengths = {1, 40, 3, 150, 17, 33, 64, 5, 2, 90, 28, 31},
                                 .type = type,
                                 .taught = taught});
        made->forward();
        made->backward();
        for (const TrialResult& result : made->results())
          all[std::string(name_of(type)) + " " + result.name + (taught ? " with a teacher" : "")] =
              digest_of(result.values);
      }
    return all;
  }

 private:
  using Lengths = std::vector<std::int64_t>;

  /// Checks that the second of several sequences gives the same numbers alone.
  void require_packing(const TrialSetup& together) {
    TrialSetup alone = together;
    alone.lengths = {together.lengths[1]};
    alone.examples = {together.examples[1]};
    const std::vector<TrialResult> all = results(together), one = results(alone);
    for (std::size_t i = 0; i < one.size(); ++i) {
      if (one[i].row_width == 0) continue;
      const std::int64_t first = all[i].first[1] * one[i].row_width;
      for (std::size_t k = 0; k < one[i].values.size(); ++k) {
        const double a = all[i].values[static_cast<std::size_t>(first) + k], b = one[i].values[k];
        if (!(std::abs(a - b) <= 1e-11 * (1.0 + std::abs(b))))
          throw Error(one[i].name + " of a sequence changes with the other sequences of the batch: " +
                      std::to_string(a) + " among others, " + std::to_string(b) + " alone");
      }
    }
  }

  void require_precisions(TrialSetup setup) {
    setup.type = DType::float64;
    const std::vector<TrialResult> exact = results(setup);
    for (const DType type : run_precisions(device_)) {
      setup.type = type;
      compare_precision(exact, results(setup), size_of(type) == 2 ? 0.1 : 1e-4, name_of(type));
    }
  }

  /// Returns the next width that the defaults take, a multiple of the smallest.
  std::int64_t width_of(const LargeSize& size) {
    if (size.exact) return size.width;
    const std::int64_t step = width();
    for (std::int64_t wide = (size.width + step - 1) / step * step; wide <= 16 * size.width; wide += step)
      try {
        make_trial(device_, offer_, defaults_,
                   {.width = wide, .lengths = {2}, .targets = usable_spaces().front()});
        return wide;
      } catch (const OptionError&) {  // the multiple is invalid
      }
    throw Error("refuses its default options at every multiple of " + std::to_string(step) + " from " +
                std::to_string(size.width) + "; name a valid width: --width N");
  }

  std::int64_t width() {
    if (width_ == 0) width_ = fitting_width(device_, offer_, defaults_);
    return width_;
  }

  std::vector<OptionsVariant> usable_variants() {
    std::vector<OptionsVariant> usable;
    for (OptionsVariant& variant : option_variants(offer_.options)) {
      try {
        make_trial(device_, offer_, variant.options,
                   {.width = width(), .lengths = {2}, .targets = usable_spaces().front()});
        usable.push_back(std::move(variant));
      } catch (const OptionError&) {  // an invalid combination; the defaults are valid
      }
    }
    return usable;
  }

  /// Returns the spaces over which a head takes the targets of a task.
  const std::vector<Space>& usable_spaces() {
    if (!spaces_.empty()) return spaces_;
    std::string refused;
    for (const Space space : {Space::tokens, Space::sequences, Space::picked}) try {
        if (takes_targets(device_, offer_, defaults_, {.width = width(), .lengths = {2}, .targets = space}))
          spaces_.push_back(space);
      } catch (const OptionError&) {
        throw;
      } catch (const Error& error) {  // it does not accept such a task
        refused = error.what();
      }
    if (spaces_.empty()) throw Error("the head takes no targets: " + refused);
    return spaces_;
  }

  bool takes_teacher() {
    return encore::contract::takes_teacher(
        device_, offer_, defaults_, {.width = width(), .lengths = {2}, .targets = usable_spaces().front()});
  }

  bool couples_sequences() {
    return offer_.kind == Kind::head && trial({.width = width(), .lengths = {2}})->couples_sequences();
  }

  std::vector<double> usable_smoothings() {
    if (offer_.kind != Kind::head) return {0.0};
    try {
      make_trial(device_, offer_, defaults_,
                 {.width = width(), .lengths = {2}, .targets = usable_spaces()[0]}, 0.2);
      return {0.0, 0.2};
    } catch (const Error&) {  // this head cannot smooth labels
      return {0.0};
    }
  }

  std::unique_ptr<Trial> trial(TrialSetup setup) {
    if (std::ranges::find(usable_spaces(), setup.targets) == usable_spaces().end())
      setup.targets = usable_spaces().front();
    return make_trial(device_, offer_, defaults_, setup);
  }

  std::vector<TrialResult> results(const TrialSetup& setup) {
    const auto made = trial(setup);
    made->forward();
    if (setup.training) made->backward();
    made->objective();
    return made->results();
  }

  static std::string text(const Lengths& lengths) {
    std::string all = "{";
    for (const std::int64_t length : lengths) all += (all == "{" ? "" : ", ") + std::to_string(length);
    return all + "}";
  }

  static void require_equal(const std::vector<TrialResult>& a, const std::vector<TrialResult>& b,
                            const std::string& when, const std::string& hint) {
    for (std::size_t i = 0; i < a.size(); ++i)
      if (digest_of(a[i].values) != digest_of(b[i].values))
        throw Error(a[i].name + " differs " + when + hint);
  }

  static void require_silent(const KokkosWatch& watch, const std::string& pass) {
    const std::vector<std::string> allocations = watch.allocations();
    if (allocations.empty()) return;
    throw Error(pass + " allocates \"" + allocations.front() + "\"" +
                (allocations.size() > 1 ? " and " + std::to_string(allocations.size() - 1) + " more" : "") +
                " in a step of a shape seen before; declare a buffer instead");
  }

  /// Compares two precisions. Differences are relative to the root of the mean square of a tensor, or of all
  /// tensors if one is zero except for rounding.
  static void compare_precision(const std::vector<TrialResult>& exact,
                                const std::vector<TrialResult>& rounded, double tolerance,
                                const std::string& precision) {
    const auto size = [](const std::vector<double>& values) {
      double squares = 0.0;
      for (const double value : values) squares += value * value;
      return std::sqrt(squares / std::max(1.0, static_cast<double>(values.size())));
    };
    double typical = 0.0;
    for (const TrialResult& result : exact) typical = std::max(typical, size(result.values));
    for (std::size_t i = 0; i < exact.size(); ++i) {
      std::vector<double> difference = exact[i].values;
      for (std::size_t k = 0; k < difference.size(); ++k) difference[k] -= rounded[i].values[k];
      const double error = size(difference) / std::max({size(exact[i].values), 0.1 * typical, 1e-30});
      if (!(error <= tolerance))
        throw Error(exact[i].name + " in " + precision + " is off by " + std::to_string(error) +
                    " of its size, " + std::to_string(tolerance) + " is allowed");
    }
  }

  const Device& device_;
  const Offer& offer_;
  Options defaults_;
  std::vector<LargeSize> sizes_;
  std::int64_t width_ = 0;
  std::vector<Space> spaces_;
};

}  // namespace

std::vector<Check> layer_checks(const Device& device, const Offer& offer,
                                const std::vector<LargeSize>& sizes) {
  const auto checks = std::make_shared<LayerChecks>(device, offer, sizes);
  std::vector<Check> all{{"declaration", [=] { return checks->declaration(); }},
                         {"gradients", [=] { return checks->gradients(); }},
                         {"overwriting", [=] { return checks->overwrites(); }},
                         {"same seed", [=] { return checks->same_seed_same_bits(); }},
                         {"lengths", [=] { return checks->lengths(); }},
                         {"packing", [=] { return checks->packing(); }},
                         {"evaluation", [=] { return checks->evaluation(); }},
                         {"precision", [=] { return checks->precision(); }},
                         {"ONNX form", [=] { return checks->onnx(); }},
                         {"large sizes", [=] { return checks->large_sizes(); }},
                         {"allocation", [=] { return checks->step_allocates_nothing(); }},
                         {"labels", [=] { return checks->labels(); }}};
  if (offer.kind == Kind::layer) {
    all.push_back({"sum", [=] { return checks->sum(); }});
    all.push_back({"generation", [=] { return checks->generation(); }});
    all.push_back({"attention", [=] { return checks->attention(); }});
  }
  return all;
}

std::map<std::string, std::string> layer_digests(const Device& device, const Offer& offer) {
  return LayerChecks(device, offer).digests();
}

}  // namespace encore::contract
