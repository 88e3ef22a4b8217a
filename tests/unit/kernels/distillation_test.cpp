// SPDX-License-Identifier: BSD-3-Clause
// Tests kernels::distillation_loss and its gradient (framework/kernels/distillation.cpp), which the heads
// `linear` and `language_model` call for a run with a teacher. Expected losses are counted here in double by
// the formula, which must not change; gradients are also compared with differences of the loss. Rows without
// a target and huge scores are covered.
#include "unit/kernels/kernel_test.hpp"

namespace encore::test {
namespace {

struct Case {
  double smoothing = 0.0;
  Distillation distillation = {};
};
const std::vector<Case> cases = {{0.0, {2.0, 0.5}}, {0.1, {0.5, 0.7}}, {0.0, {4.0, 0.0}}, {0.2, {3.0, 1.0}}};

Values softmax(const Values& scores, double temperature) {
  Values shares = scores;
  double sum = 0.0;
  for (double& share : shares) sum += share = std::exp(share / temperature);
  for (double& share : shares) share /= sum;
  return shares;
}

/// Returns the loss of one row: h * cross-entropy + (1 - h) T^2 KL(p || softmax(z / T)), with the hard share
/// h, the temperature T, the teacher's p = softmax(t / T) and the student's scores z.
double reference(const Values& z, const Values& t, std::size_t target, const Case& of) {
  const auto [temperature, hard] = of.distillation;
  const Values own = softmax(z, 1.0), warm = softmax(z, temperature), taught = softmax(t, temperature);
  double loss = 0.0;
  for (std::size_t k = 0; k < z.size(); ++k) {
    const double q = (k == target ? 1.0 - of.smoothing : 0.0) + of.smoothing / static_cast<double>(z.size());
    loss -= hard * q * std::log(own[k]);
    loss += (1.0 - hard) * temperature * temperature * taught[k] * std::log(taught[k] / warm[k]);
  }
  return loss;
}

class DistillationLoss : public ::testing::TestWithParam<Precision> {};

TEST_P(DistillationLoss, LossAndGradientOfRowsWithATarget) {
  const auto [type, tolerance] = GetParam();
  const bool coarse = size_of(type) == 2;
  for (const std::int64_t classes : {1, 2, 9, 33, 150})
    for (const Case& of : cases) {
      const contract::OwnedTensor logits = random_tensor(type, {5, classes}, 1, 2.0),
                                  teacher = random_tensor(type, {5, classes}, 2, 2.0);
      const contract::OwnedTensor targets = integers({0, -1, classes - 1, classes / 2, -1});
      contract::OwnedTensor losses(sum_type(type), {5}), normalizers(sum_type(type), {5, 5}),
          dlogits(type, {5, classes});
      losses.fill(NAN);
      normalizers.fill(NAN);
      dlogits.fill(NAN);
      const Values z = logits.values(), t = teacher.values(), wanted = targets.values();
      const auto K = static_cast<std::size_t>(classes);
      Values expected(5, 0.0), expected_gradient(z.size(), 0.0);
      for (std::size_t r = 0; r < 5; ++r) {
        if (wanted[r] < 0) continue;
        const auto begin = static_cast<std::ptrdiff_t>(r * K), end = begin + classes;
        Values row(z.begin() + begin, z.begin() + end);
        const Values taught(t.begin() + begin, t.begin() + end);
        const auto target = static_cast<std::size_t>(wanted[r]);
        expected[r] = reference(row, taught, target, of);
        for (std::size_t k = 0; k < K; ++k) {
          constexpr double step = 1e-4;
          const auto at = [&](double steps) {
            Values moved = row;
            moved[k] += steps * step;
            return reference(moved, taught, target, of);
          };
          expected_gradient[r * K + k] = 0.25 * (8.0 * (at(1) - at(-1)) - at(2) + at(-2)) / (12.0 * step);
        }
      }
      kernels::distillation_loss(device(), logits, teacher, targets, of.smoothing, of.distillation, losses,
                                 normalizers);
      expect_close(losses, expected, coarse ? 2e-5 : 10 * tolerance, "losses");
      kernels::distillation_loss_backward(device(), logits, teacher, targets, of.smoothing, of.distillation,
                                          0.25, normalizers, dlogits);
      expect_close(dlogits, expected_gradient, std::max(tolerance, 1e-10), "dlogits");
      kernels::distillation_loss_backward(device(), logits, teacher, targets, of.smoothing, of.distillation,
                                          0.25, normalizers, logits);
      EXPECT_EQ(logits.values(), dlogits.values()) << "in place";
    }
}

TEST_P(DistillationLoss, IsZeroForATeacherOfTheSameScores) {
  const auto [type, tolerance] = GetParam();
  const contract::OwnedTensor logits = random_tensor(type, {4, 9}, 3, 3.0), targets = integers({0, 3, 8, -1});
  contract::OwnedTensor losses(sum_type(type), {4}), normalizers(sum_type(type), {4, 5}),
      dlogits(type, {4, 9});
  const Distillation alone = {.temperature = 3.0, .hard_weight = 0.0};
  kernels::distillation_loss(device(), logits, logits, targets, 0.0, alone, losses, normalizers);
  expect_close(losses, Values(4, 0.0), 1e-5, "losses");
  kernels::distillation_loss_backward(device(), logits, logits, targets, 0.0, alone, 1.0, normalizers,
                                      dlogits);
  expect_close(dlogits, Values(36, 0.0), 1e-6, "dlogits");
}

TEST_P(DistillationLoss, TakesATeacherOfAnyType) {
  const auto [type, tolerance] = GetParam();
  const contract::OwnedTensor logits = random_tensor(type, {3, 9}, 1, 2.0), targets = integers({0, 3, 8});
  for (const DType other : {DType::float64, DType::float32, DType::bfloat16}) {
    const contract::OwnedTensor teacher = random_tensor(other, {3, 9}, 2, 2.0);
    contract::OwnedTensor losses(sum_type(type), {3}), normalizers(sum_type(type), {3, 5});
    kernels::distillation_loss(device(), logits, teacher, targets, 0.0, cases[0].distillation, losses,
                               normalizers);
    Values expected;
    const Values z = logits.values(), t = teacher.values();
    for (std::size_t r = 0; r < 3; ++r) {
      const auto begin = static_cast<std::ptrdiff_t>(9 * r);
      expected.push_back(reference(Values(z.begin() + begin, z.begin() + begin + 9),
                                   Values(t.begin() + begin, t.begin() + begin + 9),
                                   static_cast<std::size_t>(targets.values()[r]), cases[0]));
    }
    expect_close(losses, expected, 3e-5, name_of(other));
  }
}

TEST_P(DistillationLoss, HugeScoresDoNotOverflow) {
  const auto type = GetParam().type;
  contract::OwnedTensor logits(type, {1, 2}), teacher(type, {1, 2}), losses(sum_type(type), {1}),
      normalizers(sum_type(type), {1, 5}), dlogits(type, {1, 2});
  logits.set({1000.0, -1000.0});
  teacher.set({-1000.0, 1000.0});
  const Distillation half = {.temperature = 2.0, .hard_weight = 0.5};
  kernels::distillation_loss(device(), logits, teacher, integers({1}), 0.0, half, losses, normalizers);
  expect_close(losses, {0.5 * 2000.0 + 0.5 * 4.0 * 1000.0}, 1e-6, "loss");
  kernels::distillation_loss_backward(device(), logits, teacher, integers({1}), 0.0, half, 1.0, normalizers,
                                      dlogits);
  expect_close(dlogits, {1.5, -1.5}, 1e-6, "dlogits");
}

INSTANTIATE_TEST_SUITE_P(Precisions, DistillationLoss, ::testing::ValuesIn(precisions(3e-6, 1e-12, 1e-2)),
                         precision_name);

TEST(DistillationLossRefuses, WrongShapesTypesAndNumbers) {
  const contract::OwnedTensor logits(DType::float32, {2, 3}), losses(DType::float32, {2}),
      normalizers(DType::float32, {2, 5}), two = integers({0, 1});
  const auto loss = [&](Tensor teacher, Tensor kept, const Distillation& of) {
    kernels::distillation_loss(device(), logits, teacher, two, 0.0, of, losses, kept);
  };
  EXPECT_REFUSED(loss(contract::OwnedTensor(DType::float32, {2, 4}), normalizers, {}),
                 "teacher is float32 (2, 4), expected float32 (2, 3)");
  EXPECT_REFUSED(loss(logits, losses, {}), "normalizers is float32 (2), expected float32 (2, 5)");
  EXPECT_REFUSED(loss(logits, normalizers, {.temperature = 0.0}), "the temperature is above 0");
  EXPECT_REFUSED(loss(logits, normalizers, {.temperature = 1.0, .hard_weight = 1.5}),
                 "hard_weight lies in [0, 1]");
}

}  // namespace
}  // namespace encore::test
