// SPDX-License-Identifier: BSD-3-Clause
// Tests layer_norm and rms_norm of a residual sum in one pass (framework/kernels/norms): trunk +
// dropout(branch), where the trunk is the state before a sub-layer and the branch its output. Forward and
// backward must have, bit for bit, the values of the sum in a pass of its own and the norm after it, in every
// precision. Layers call the norms both ways.
#include "unit/kernels/kernel_test.hpp"

namespace encore::test {
namespace {

constexpr double epsilon = 1e-5;
constexpr RandomKey key{11, 22, 33};

/// The results of one way to compute: the norm y, the sum, the statistics of rows and all gradients.
struct Computed {
  Values y, sum, mean, scale, dtrunk, dbranch, dgain, dbias;
  bool operator==(const Computed&) const = default;
};

/// Inputs, and memory for results, of one shape. Both ways start from the same values. `branch` holds the sum
/// after a pass.
struct Problem {
  Problem(DType type, const std::vector<std::int64_t>& lengths, std::int64_t width)
      : batch(lengths),
        sums(sum_type(type)),
        trunk(random_tensor(type, {batch.rows(), width}, 1)),
        branch(random_tensor(type, {batch.rows(), width}, 2)),
        dy(random_tensor(type, {batch.rows(), width}, 3)),
        gain(random_tensor(sums, {width}, 4)),
        bias(random_tensor(sums, {width}, 5)),
        y(type, {batch.rows(), width}),
        dtrunk(type, {batch.rows(), width}),
        dbranch(type, {batch.rows(), width}),
        mean(sums, {batch.rows()}),
        scale(sums, {batch.rows()}),
        dgain(random_tensor(sums, {width}, 6)),
        dbias(random_tensor(sums, {width}, 7)) {
    for (contract::OwnedTensor* result : {&y, &dtrunk, &dbranch, &mean, &scale}) result->fill(NAN);
  }
  Computed computed() const {
    device().fence();
    return {y.values(),      branch.values(),  mean.values(),  scale.values(),
            dtrunk.values(), dbranch.values(), dgain.values(), dbias.values()};
  }

  contract::OwnedBatch batch;
  DType sums;
  contract::OwnedTensor trunk, branch, dy, gain, bias, y, dtrunk, dbranch, mean, scale, dgain, dbias;
};

/// Runs the norm forward and backward. x is the input, dx the place for its gradient.
void run_norm(bool rms, const Problem& p, const ResidualSum& x, const ResidualSum& dx) {
  if (rms) {
    kernels::rms_norm(device(), x, p.gain, epsilon, p.y, p.scale);
    kernels::rms_norm_backward(device(), p.branch, p.gain, p.scale, p.dy, dx, p.dgain);
    return;
  }
  kernels::layer_norm(device(), x, p.gain, p.bias, epsilon, p.y, p.mean, p.scale);
  kernels::layer_norm_backward(device(), p.branch, p.gain, p.mean, p.scale, p.dy, dx, p.dgain, p.dbias);
}

Computed in_passes_of_their_own(bool rms, const Problem& p, double probability) {
  kernels::dropout_add(device(), p.batch, key, probability, p.branch, p.trunk, p.branch);
  run_norm(rms, p, p.branch.tensor(), p.dtrunk.tensor());
  kernels::dropout(device(), p.batch, key, probability, p.dtrunk, p.dbranch);
  return p.computed();
}

Computed in_one_pass(bool rms, const Problem& p, double probability) {
  const DropoutDraw draw{probability, key};
  run_norm(rms, p, {p.trunk, p.branch, p.batch, draw}, {p.dtrunk, p.dbranch, p.batch, draw});
  return p.computed();
}

/// Without dropout both gradients may share their memory.
Computed in_one_pass_with_one_gradient(bool rms, const Problem& p) {
  run_norm(rms, p, {p.trunk, p.branch, p.batch, {}}, {p.dtrunk, p.dtrunk, p.batch, {}});
  Computed computed = p.computed();
  computed.dbranch = computed.dtrunk;
  return computed;
}

struct Case {
  DType type;
  bool rms;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << (c.rms ? "rms_norm_" : "layer_norm_") << name_of(c.type);
}

class NormOfSum : public ::testing::TestWithParam<Case> {};

/// Returns an empty list if the values are unused: they were not written and hold NaN, which equals nothing.
Values without_unused(const Values& values, bool unused) {
  return unused ? Values{} : values;
}

void expect_equal(Computed one, Computed other, bool rms, const std::string& what) {
  for (Computed* computed : {&one, &other}) computed->mean = without_unused(computed->mean, rms);
  EXPECT_EQ(one.y, other.y) << what;
  EXPECT_EQ(one.sum, other.sum) << what;
  EXPECT_EQ(one.dtrunk, other.dtrunk) << what;
  EXPECT_EQ(one.dbranch, other.dbranch) << what;
  EXPECT_TRUE(one == other) << what << ": statistics or gradients of parameters";
}

TEST_P(NormOfSum, HasTheBitsOfTwoPasses) {
  const auto [type, rms] = GetParam();
  for (const std::vector<std::int64_t>& lengths : {std::vector<std::int64_t>{1}, {3, 0, 1, 30, 17}})
    for (const std::int64_t width : {1, 2, 5, 33, 130, 256, 384, 768, 1024})
      for (const double probability : {0.0, 0.1, 0.6}) {
        const std::string what = std::to_string(width) + " channels, dropout " + std::to_string(probability);
        const Computed two = in_passes_of_their_own(rms, {type, lengths, width}, probability);
        expect_equal(in_one_pass(rms, {type, lengths, width}, probability), two, rms, what);
        if (probability == 0.0)
          expect_equal(in_one_pass_with_one_gradient(rms, {type, lengths, width}), two, rms,
                       what + ", shared");
      }
}

TEST_P(NormOfSum, DropsInForwardAndBackwardTheSame) {
  const auto [type, rms] = GetParam();
  Problem p(type, {9, 8}, 64);
  p.trunk.fill(0.0);  // so that the sum is the branch after dropout
  const Computed computed = in_one_pass(rms, p, 0.5);
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < computed.sum.size(); ++i) {
    EXPECT_EQ(computed.sum[i] == 0.0, computed.dbranch[i] == 0.0) << i;
    dropped += computed.sum[i] == 0.0 ? 1 : 0;
  }
  EXPECT_GT(dropped, computed.sum.size() / 3);
  EXPECT_LT(dropped, computed.sum.size() * 2 / 3);
}

TEST_P(NormOfSum, OfAnEmptyBatchChangesNothing) {
  const auto [type, rms] = GetParam();
  const Problem p(type, {}, 3);
  const Values gain_before = p.dgain.values();
  EXPECT_EQ(in_one_pass(rms, p, 0.1).dgain, gain_before);
}

INSTANTIATE_TEST_SUITE_P(Norms, NormOfSum,
                         ::testing::Values(Case{DType::float32, false}, Case{DType::float64, false},
                                           Case{DType::bfloat16, false}, Case{DType::float32, true},
                                           Case{DType::float64, true}, Case{DType::bfloat16, true}),
                         ::testing::PrintToStringParamName());

TEST(NormOfSumRefuses, PartsThatDoNotFit) {
  const Problem p(DType::float32, {2}, 4);
  const contract::OwnedTensor longer(DType::float32, {3, 4}), half(DType::bfloat16, {2, 4});
  const auto norm = [&](const ResidualSum& x) { run_norm(false, p, x, p.dtrunk.tensor()); };
  const auto backward = [&](const ResidualSum& dx) { run_norm(false, p, p.branch.tensor(), dx); };
  EXPECT_REFUSED(norm({p.trunk, longer, p.batch, {}}),
                 "the branch is float32 (3, 4), expected float32 (2, 4)");
  EXPECT_REFUSED(norm({p.trunk, half, p.batch, {}}),
                 "the branch is bfloat16 (2, 4), expected float32 (2, 4)");
  EXPECT_REFUSED(backward({longer, p.dbranch, p.batch, {}}),
                 "the trunk is float32 (3, 4), expected float32 (2, 4)");
  EXPECT_REFUSED(backward({p.dtrunk, p.dtrunk, p.batch, {0.1, key}}),
                 "with dropout trunk and branch lie apart");
  const contract::OwnedBatch other({5});
  EXPECT_REFUSED(norm({p.trunk, p.branch, other, {0.1, key}}),
                 "the examples of the rows is int64 (5), expected int64 (2)");
  EXPECT_REFUSED(norm({p.trunk, p.branch, p.batch, {1.0, key}}), "a dropout probability lies in [0, 1)");
  ResidualSum alone = p.trunk.tensor();
  alone.dropout = {0.1, key};
  EXPECT_REFUSED(norm(alone), "dropout acts on the branch of a sum over the rows of a row set");
}

}  // namespace
}  // namespace encore::test
