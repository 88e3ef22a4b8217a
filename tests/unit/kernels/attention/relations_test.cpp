// SPDX-License-Identifier: BSD-3-Clause
// Tests kernels::relations_loss and its gradient (framework/sdk/encore/relations.hpp,
// framework/kernels/attention/relations.cpp): in distillation by relations, the softmax of products between
// the rows of a sequence shall equal that of the teacher. model/relation_distillation.cpp calls it. Expected
// values are counted in double, without code of the kernel; gradients are also compared with differences of
// the loss.
#include <encore/relations.hpp>

#include "unit/kernels/kernel_test.hpp"

namespace encore::test {
namespace {

const std::vector<std::int64_t> lengths = {3, 1, 5};
constexpr std::int64_t rows = 9;

/// Returns the log softmax over j of x_i x_j / sqrt(d), (R, T, T), for the rows of one sequence: R heads, T
/// rows.
Values log_relations(const Values& x, std::int64_t first, std::int64_t length, std::int64_t width,
                     std::int64_t heads) {
  const std::int64_t size = width / heads;
  Values scores;
  for (std::int64_t r = 0; r < heads; ++r)
    for (std::int64_t i = 0; i < length; ++i) {
      double sum = 0.0;
      for (std::int64_t j = 0; j < length; ++j) {
        double product = 0.0;
        for (std::int64_t d = 0; d < size; ++d)
          product += x[static_cast<std::size_t>((first + i) * width + r * size + d)] *
                     x[static_cast<std::size_t>((first + j) * width + r * size + d)];
        scores.push_back(product / std::sqrt(static_cast<double>(size)));
        sum += std::exp(scores.back());
      }
      for (auto score = scores.end() - length; score != scores.end(); ++score) *score -= std::log(sum);
    }
  return scores;
}

/// Returns the loss of each row and head, (N, R): weight / R * KL(teacher || student).
Values reference(const Values& x, std::int64_t width, const Values& y, std::int64_t taught_width,
                 std::int64_t heads, double weight) {
  Values losses(static_cast<std::size_t>(rows * heads));
  std::int64_t first = 0;
  for (const std::int64_t length : lengths) {
    const Values own = log_relations(x, first, length, width, heads),
                 taught = log_relations(y, first, length, taught_width, heads);
    std::size_t at = 0;
    for (std::int64_t r = 0; r < heads; ++r)
      for (std::int64_t i = 0; i < length; ++i)
        for (std::int64_t j = 0; j < length; ++j, ++at)
          losses[static_cast<std::size_t>((first + i) * heads + r)] +=
              weight / static_cast<double>(heads) * std::exp(taught[at]) * (taught[at] - own[at]);
    first += length;
  }
  return losses;
}

double sum_of(const Values& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum;
}

/// Rows of a teacher with their memory, as the loss reads them.
struct Taught {
  Taught(DType type, std::int64_t width, std::int64_t of_heads, double weight)
      : rows_of_teacher(random_tensor(sum_type(type), {rows, width}, 2)),
        log_sums(sum_type(type), {rows, of_heads, 2}),
        taught{of_heads, weight, rows_of_teacher, log_sums} {
    log_sums.fill(NAN);
  }
  contract::OwnedTensor rows_of_teacher, log_sums;
  TaughtRows taught;
};

class Relations : public ::testing::TestWithParam<Precision> {};

TEST_P(Relations, LossAndGradientOfAnyWidthsAndHeads) {
  const auto [type, tolerance] = GetParam();
  const contract::OwnedBatch batch(lengths);
  for (const auto& [width, taught_width, heads] :
       {std::array<std::int64_t, 3>{8, 8, 1}, {12, 4, 4}, {6, 40, 2}, {32, 16, 1}}) {
    constexpr double weight = 0.7, scale = 0.25, step = 1e-4;
    // The student's rows are the middle columns of a matrix, as the keys of a layer are.
    contract::OwnedTensor x = random_tensor(type, {rows, 3 * width}, 1),
                          dx = random_tensor(type, {rows, 3 * width}, 3);
    const kernels::Slice own(x, width, width), gradient(dx, width, width);
    const Taught teacher(type, taught_width, heads, weight);
    contract::OwnedTensor losses(sum_type(type), {rows, heads});
    losses.fill(NAN);
    const Values all = x.values(), y = teacher.rows_of_teacher.values(), before = dx.values();
    Values values;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t c = 0; c < width; ++c)
        values.push_back(all[static_cast<std::size_t>((3 * i + 1) * width + c)]);

    kernels::relations_loss(device(), batch, own, teacher.taught, losses);
    expect_close(losses, reference(values, width, y, taught_width, heads, weight),
                 std::max(size_of(type) == 2 ? 1e-5 : tolerance, 1e-12), "losses");

    kernels::relations_backward(device(), batch, own, teacher.taught, scale, gradient);
    Values expected = before;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto at = [&](double steps) {
        Values moved = values;
        moved[k] += steps * step;
        return sum_of(reference(moved, width, y, taught_width, heads, weight));
      };
      const std::size_t i = k / static_cast<std::size_t>(width), c = k % static_cast<std::size_t>(width);
      expected[(3 * i + 1) * static_cast<std::size_t>(width) + c] +=
          scale * (8.0 * (at(1) - at(-1)) - at(2) + at(-2)) / (12.0 * step);
    }
    expect_close(dx, expected, std::max(tolerance, 1e-9), "dx, to which it is added");
  }
}

TEST_P(Relations, AreNothingBesideATeacherOfTheSameRows) {
  const auto [type, tolerance] = GetParam();
  const contract::OwnedBatch batch(lengths);
  const contract::OwnedTensor x = random_tensor(type, {rows, 8}, 1);
  const Taught teacher(type, 8, 2, 1.0);
  kernels::copy_relation_rows(device(), x, teacher.rows_of_teacher);
  contract::OwnedTensor losses(sum_type(type), {rows, 2}), dx(type, {rows, 8});
  dx.fill(0.0);
  kernels::relations_loss(device(), batch, x, teacher.taught, losses);
  kernels::relations_backward(device(), batch, x, teacher.taught, 1.0, dx);
  expect_close(losses, Values(rows * 2, 0.0), 1e-6, "losses");
  expect_close(dx, Values(rows * 8, 0.0), 1e-6, "dx");
}

TEST_P(Relations, LargeProductsDoNotOverflow) {
  const auto type = GetParam().type;
  const contract::OwnedBatch batch({2});
  contract::OwnedTensor x(type, {2, 1}), dx(type, {2, 1}), losses(sum_type(type), {2, 1});
  x.set({100.0, -100.0});
  dx.fill(0.0);
  contract::OwnedTensor y(sum_type(type), {2, 1}), log_sums(sum_type(type), {2, 1, 2});
  y.set({0.0, 0.0});
  const TaughtRows taught = {1, 1.0, y, log_sums};
  kernels::relations_loss(device(), batch, x, taught, losses);
  // Half of the teacher's weight is on rows where the student's log probability is -20000.
  expect_close(losses, Values(2, 10000.0 - std::log(2.0)), 1e-6, "losses");
  kernels::relations_backward(device(), batch, x, taught, 1.0, dx);
  for (const double value : dx.values()) EXPECT_TRUE(std::isfinite(value));
}

TEST_P(Relations, WrongShapesAreRefused) {
  const auto type = GetParam().type;
  const contract::OwnedBatch batch(lengths);
  const contract::OwnedTensor x = random_tensor(type, {rows, 8}, 1);
  contract::OwnedTensor losses(sum_type(type), {rows, 3});
  const Taught three(type, 6, 3, 1.0), narrow(type, 6, 4, 1.0), two(type, 6, 2, 1.0);
  EXPECT_REFUSED(kernels::relations_loss(device(), batch, x, three.taught, losses),
                 "3 heads do not divide the width 8");
  EXPECT_REFUSED(kernels::relations_loss(device(), batch, x, narrow.taught, losses),
                 "4 heads do not divide the teacher's width 6");
  EXPECT_REFUSED(kernels::relations_loss(device(), batch, x, two.taught, losses), "losses is");
}

INSTANTIATE_TEST_SUITE_P(Precisions, Relations, ::testing::ValuesIn(precisions(2e-5, 1e-12, 2e-2)),
                         precision_name);

}  // namespace
}  // namespace encore::test
