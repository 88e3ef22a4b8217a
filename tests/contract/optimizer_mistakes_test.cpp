// SPDX-License-Identifier: BSD-3-Clause
// Tests the checks of optimizers (framework/contract/optimizer_checks.cpp,
// contract/optimizer_step_checks.cpp) with optimizers that misuse one of their arguments; the contract suite,
// which `exp plugin check` runs, must name it.
#include <cmath>

#include <gtest/gtest.h>

#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

#include "contract/findings.hpp"

namespace encore::testing {
namespace {

enum class Mistake {
  none,
  counts_steps,
  remembers_the_rate,
  ignores_rate_factor,
  ignores_decay,
  forgets_weight_decay,
  decays_as_the_first,
  writes_past_chunks,
  updates_whole_segments,
  reads_one_beta_twice,
  ignores_beta,
};

/// Updates one element: x -= rate (m / (1 - 0.9^step) + decay x), m = 0.9 m + 0.1 g.
template <Mistake M, class T>
void update(const Device& device, const Blocks& blocks, double learning_rate, double weight_decay,
            std::int64_t step) {
  T* values = elements<T>(blocks.values);
  T* means = elements<T>(blocks.states[0]);
  const T* gradients = elements<T>(blocks.gradients);
  const Segment* segments = blocks.segments;
  const Chunk* chunks = blocks.chunks;
  const double* gradient_scale = blocks.gradient_scale;
  const T correction = static_cast<T>(1.0 / (1.0 - std::pow(0.9, static_cast<double>(step))));
  const bool whole = M == Mistake::updates_whole_segments;
  for_uneven_rows(
      device, "mistaken::update", whole ? blocks.segment_count : blocks.chunk_count,
      KOKKOS_LAMBDA(const Row& row) {
        const Chunk chunk =
            whole ? Chunk{segments[row.index].begin,
                          static_cast<std::int32_t>(segments[row.index].end - segments[row.index].begin),
                          static_cast<std::int32_t>(row.index)}
                  : chunks[row.index];
        const Segment segment = segments[chunk.segment];
        const double factor = M == Mistake::ignores_rate_factor ? 1.0 : segment.learning_rate;
        const double decayed = M == Mistake::ignores_decay         ? 1.0
                               : M == Mistake::decays_as_the_first ? segments[1].decay
                                                                   : segment.decay;
        const T rate = static_cast<T>(learning_rate * factor);
        const T decay = static_cast<T>(weight_decay * decayed);
        const T scale = gradient_scale == nullptr ? T(1) : static_cast<T>(*gradient_scale);
        const std::int64_t size = chunk.size + (M == Mistake::writes_past_chunks ? 1 : 0);
        row.each(size, [&](std::int64_t i) {
          const std::int64_t at = chunk.begin + i;
          means[at] = T(0.9) * means[at] + T(0.1) * scale * gradients[at];
          values[at] -= rate * (correction * means[at] + decay * values[at]);
        });
      });
}

/// Computes m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2, x -= rate m / (sqrt(v) + 1e-6).
template <class T>
void update_with_betas(const Device& device, const Blocks& blocks, double learning_rate, double beta1,
                       double beta2) {
  T* values = elements<T>(blocks.values);
  T* means = elements<T>(blocks.states[0]);
  T* squares = elements<T>(blocks.states[1]);
  const T* gradients = elements<T>(blocks.gradients);
  const Segment* segments = blocks.segments;
  const Chunk* chunks = blocks.chunks;
  const double* gradient_scale = blocks.gradient_scale;
  const T b1 = static_cast<T>(beta1), b2 = static_cast<T>(beta2);
  for_uneven_rows(
      device, "mistaken::betas", blocks.chunk_count, KOKKOS_LAMBDA(const Row& row) {
        const Chunk chunk = chunks[row.index];
        const T rate = static_cast<T>(learning_rate * segments[chunk.segment].learning_rate);
        const T scale = gradient_scale == nullptr ? T(1) : static_cast<T>(*gradient_scale);
        row.each(chunk.size, [&](std::int64_t i) {
          const std::int64_t at = chunk.begin + i;
          const T gradient = scale * gradients[at];
          means[at] = b1 * means[at] + (T(1) - b1) * gradient;
          squares[at] = b2 * squares[at] + (T(1) - b2) * gradient * gradient;
          values[at] -= rate * means[at] / (Kokkos::sqrt(squares[at]) + T(1e-6));
        });
      });
}

template <Mistake M>
class Mistaken : public Optimizer {
 public:
  static Schema options() {
    return Schema()
        .number("learning_rate", 0.01, {.help = "step size", .min = 0.0, .exclusive_min = true})
        .number("weight_decay", 0.0, {.help = "shrinks every value", .min = 0.0});
  }
  Mistaken(const Options& options, const OptimizerContext&)
      : learning_rate_(options.number("learning_rate")), weight_decay_(options.number("weight_decay")) {}
  double learning_rate() const override { return learning_rate_; }
  std::vector<std::string> states() const override { return {"mean"}; }
  void update(const Device& device, const Blocks& blocks, double learning_rate, std::int64_t step) override {
    if (steps_++ == 0) first_rate_ = learning_rate;
    const double rate = M == Mistake::remembers_the_rate ? first_rate_ : learning_rate;
    const double decay = M == Mistake::forgets_weight_decay ? 0.0 : weight_decay_;
    const std::int64_t number = M == Mistake::counts_steps ? steps_ : step;
    dispatch_parameters(blocks.values.dtype, [&](auto type) {
      testing::update<M, decltype(type)>(device, blocks, rate, decay, number);
    });
  }

 private:
  double learning_rate_, weight_decay_, first_rate_ = 0.0;
  std::int64_t steps_ = 0;
};

template <Mistake M>
std::string said_of() {
  Registrar registrar;
  registrar.add<Kind::optimizer, Mistaken<M>>("mistaken");
  return failures(findings_of(registrar.offers().front()));
}

/// Adam with two betas, without the correction of the bias.
template <Mistake M>
class TwoBetas final : public Optimizer {
 public:
  static Schema options() {
    const OptionRule share = {.help = "share of the past", .min = 0.0, .max = 1.0, .exclusive_max = true};
    return Schema()
        .number("learning_rate", 0.01, {.help = "step size", .min = 0.0, .exclusive_min = true})
        .number("beta1", 0.9, share)
        .number("beta2", 0.99, share);
  }
  TwoBetas(const Options& options, const OptimizerContext&)
      : learning_rate_(options.number("learning_rate")),
        beta1_(M == Mistake::ignores_beta ? 0.9 : options.number("beta1")),
        beta2_(options.number(M == Mistake::reads_one_beta_twice ? "beta1" : "beta2")) {}
  double learning_rate() const override { return learning_rate_; }
  std::vector<std::string> states() const override { return {"mean", "square"}; }
  void update(const Device& device, const Blocks& blocks, double learning_rate, std::int64_t) override {
    dispatch_parameters(blocks.values.dtype, [&](auto type) {
      update_with_betas<decltype(type)>(device, blocks, learning_rate, beta1_, beta2_);
    });
  }

 private:
  double learning_rate_, beta1_, beta2_;
};

template <Mistake M>
std::string said_of_betas() {
  Registrar registrar;
  registrar.add<Kind::optimizer, TwoBetas<M>>("betas");
  return failures(findings_of(registrar.offers().front()));
}

TEST(OptimizerCheck, FindsAnOptionThatIsNotUsed) {
  EXPECT_EQ(said_of_betas<Mistake::none>(), "");
  expect_said(said_of_betas<Mistake::reads_one_beta_twice>(),
              "effect of options: with beta2 = 0.500000, 60 steps compute the same bits as with the default; "
              "does the constructor read this option, and update use it?");
  expect_said(said_of_betas<Mistake::ignores_beta>(), "effect of options: with beta1 = 0.500000, 60 steps");
}

TEST(OptimizerCheck, PassesARightOne) {
  EXPECT_EQ(said_of<Mistake::none>(), "");
}
TEST(OptimizerCheck, FindsAStepCounterOfItsOwn) {
  const std::string said = said_of<Mistake::counts_steps>();
  expect_said(
      said,
      "resuming: a new object that gets the values and states of 3 steps continues with other bits than the "
      "object that made them; data that update needs of earlier steps belong into a state, and their "
      "number is `step`");
  expect_said(said, "changing rate: the same cause as resuming");
}
TEST(OptimizerCheck, FindsTheFirstLearningRateKept) {
  const std::string said = said_of<Mistake::remembers_the_rate>();
  expect_said(said,
              "changing rate: after steps with a learning rate of 0.01 a step with 0.003 still uses 0.01; "
              "use the rate that update gets, which the schedule changes");
  EXPECT_EQ(said.find("resuming: "), std::string::npos) << said;
}
TEST(OptimizerCheck, FindsAFactorOnTheRateThatIsIgnored) {
  expect_said(said_of<Mistake::ignores_rate_factor>(),
              "segments: Segment::learning_rate = 0.5 does not equal half the learning rate");
}
TEST(OptimizerCheck, FindsDecayWhereThereIsNone) {
  expect_said(said_of<Mistake::ignores_decay>(),
              "segments: weight_decay changes parameters whose Segment::decay is 0");
}
TEST(OptimizerCheck, FindsDecayThatIsMissing) {
  expect_said(said_of<Mistake::forgets_weight_decay>(),
              "segments: weight_decay = 0.1 has no effect on parameter 0, whose Segment::decay is 1");
  expect_said(said_of<Mistake::decays_as_the_first>(), "segments: weight_decay = 0.1 has no effect on");
}
TEST(OptimizerCheck, FindsAnUpdateBesideItsChunks) {
  // How far a block is padded, and so the element's number, differs between devices.
  const std::string past_the_end = said_of<Mistake::writes_past_chunks>();
  expect_said(past_the_end, "chunks: update writes to element ");
  expect_said(past_the_end,
              " of the values, which belongs to no chunk (behind the end of parameter \"layer.bias\")");
  expect_said(said_of<Mistake::updates_whole_segments>(),
              "chunks: update writes to element 0 of the values, which belongs to no chunk (of the frozen "
              "parameter \"before\")");
}

struct UnnamedState : Mistaken<Mistake::none> {
  using Mistaken::Mistaken;
  std::vector<std::string> states() const override { return {}; }
};
struct StateLikeAPath : Mistaken<Mistake::none> {
  using Mistaken::Mistaken;
  std::vector<std::string> states() const override { return {"../x y"}; }
};
template <class T>
std::string said_of_states() {
  Registrar registrar;
  registrar.add<Kind::optimizer, T>("mistaken");
  return failures(findings_of(registrar.offers().front()));
}
TEST(OptimizerCheck, FindsStatesThatCannotBeNamed) {
  expect_said(said_of_states<UnnamedState>(),
              "chunks: update asks for states[0], and states() names 0; name every state that update uses\n");
  expect_said(said_of_states<StateLikeAPath>(), "states: a state is called \"../x y\"; it names tensors");
}

}  // namespace
}  // namespace encore::testing
