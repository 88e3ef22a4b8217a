// SPDX-License-Identifier: BSD-3-Clause
// The kernels distillation_loss and its backward (Hinton, Vinyals and Dean 2015; formula in
// encore/kernels.hpp): losses (N) of logits (N, K) that learn from a teacher's scores (N, K) and the true
// targets. Heads call them. Kept for backward: normalizers (N, 5). Forward reads a row of logits five times
// and a row of scores three times; backward reads each once. The order of sums decides the bits of runs and
// must stay.
#include <encore/head.hpp>
#include <encore/math.hpp>
#include <encore/rows.hpp>

#include "kernels/check.hpp"

namespace encore::kernels {
namespace {

/// How many numbers are kept for backward of a row, in this order: the largest logit, sum e^(z - largest) and
/// sum e^((z - largest) / T), then the largest score of the teacher and sum e^((t - largest) / T).
constexpr std::int64_t kept_numbers = 5;

/// Computes hard * (-sum q log softmax(z)) + soft * T^2 KL(p || softmax(z / T)), with p = softmax(t / T) and
/// q the target, smoothed; all with z and t shifted by their maxima.
template <class T, class U>
void loss_rows(const Device& device, Tensor logits, Tensor teacher, Tensor targets, double label_smoothing,
               const Distillation& distillation, Tensor losses, Tensor normalizers) {
  using S = Sum<T>;
  const std::int64_t classes = logits.extent(1);
  const T* in = elements<T>(logits);
  const U* taught = elements<U>(teacher);
  const std::int32_t* wanted = elements<std::int32_t>(targets);
  S* out = elements<S>(losses);
  S* kept = elements<S>(normalizers);
  const S smoothing = static_cast<S>(label_smoothing), cold = static_cast<S>(1.0 / distillation.temperature);
  const S hard = static_cast<S>(distillation.hard_weight);
  const S soft =
      static_cast<S>((1.0 - distillation.hard_weight) * distillation.temperature * distillation.temperature);
  for_rows(
      device, "encore::distillation_loss", logits.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const T* z = in + row.index * classes;
        const U* t = taught + row.index * classes;
        const std::int32_t target = wanted[row.index];
        S loss = S(0), largest = S(0), sum = S(1), warm_sum = S(1), teacher_largest = S(0),
          teacher_sum = S(1);
        if (target >= 0) {
          largest = row.max<S>(classes, [&](std::int64_t k) { return static_cast<S>(z[k]); });
          teacher_largest = row.max<S>(classes, [&](std::int64_t k) { return static_cast<S>(t[k]); });
          sum =
              row.sum<S>(classes, [&](std::int64_t k) { return math::exp(static_cast<S>(z[k]) - largest); });
          warm_sum = row.sum<S>(
              classes, [&](std::int64_t k) { return math::exp((static_cast<S>(z[k]) - largest) * cold); });
          teacher_sum = row.sum<S>(classes, [&](std::int64_t k) {
            return math::exp((static_cast<S>(t[k]) - teacher_largest) * cold);
          });
          const S shifted =
              row.sum<S>(classes, [&](std::int64_t k) { return static_cast<S>(z[k]) - largest; });
          const S apart = row.sum<S>(classes, [&](std::int64_t k) {
            const S score = (static_cast<S>(t[k]) - teacher_largest) * cold;
            return math::exp(score) * (score - (static_cast<S>(z[k]) - largest) * cold);
          });
          const S cross_entropy = math::log(sum) -
                                  (S(1) - smoothing) * (static_cast<S>(z[target]) - largest) -
                                  smoothing / static_cast<S>(classes) * shifted;
          const S divergence = apart / teacher_sum - math::log(teacher_sum) + math::log(warm_sum);
          loss = hard * cross_entropy + soft * divergence;
        }
        row.once([&] {
          out[row.index] = loss;
          S* numbers = kept + kept_numbers * row.index;
          numbers[0] = largest;
          numbers[1] = sum;
          numbers[2] = warm_sum;
          numbers[3] = teacher_largest;
          numbers[4] = teacher_sum;
        });
      });
}

/// Computes dz = scale * (hard * (softmax(z) - q) + soft * T (softmax(z / T) - p)), where the last is the
/// derivative of T^2 KL.
template <class T, class U>
void gradient_rows(const Device& device, Tensor logits, Tensor teacher, Tensor targets,
                   double label_smoothing, const Distillation& distillation, double scale, Tensor normalizers,
                   Tensor dlogits) {
  using S = Sum<T>;
  const std::int64_t classes = logits.extent(1);
  const T* in = elements<T>(logits);
  const U* taught = elements<U>(teacher);
  const std::int32_t* wanted = elements<std::int32_t>(targets);
  const S* kept = elements<S>(normalizers);
  T* out = elements<T>(dlogits);
  const S cold = static_cast<S>(1.0 / distillation.temperature);
  const S hard = static_cast<S>(scale * distillation.hard_weight);
  const S soft = static_cast<S>(scale * (1.0 - distillation.hard_weight) * distillation.temperature);
  const S hit = static_cast<S>(1.0 - label_smoothing);
  const S any = static_cast<S>(label_smoothing / static_cast<double>(classes));
  for_rows(
      device, "encore::distillation_loss_backward", logits.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const T* z = in + row.index * classes;
        const U* t = taught + row.index * classes;
        T* dz = out + row.index * classes;
        const std::int32_t target = wanted[row.index];
        if (target < 0) {
          row.each(classes, [&](std::int64_t k) { dz[k] = static_cast<T>(S(0)); });
          return;
        }
        const S* numbers = kept + kept_numbers * row.index;
        const S largest = numbers[0], inverse = S(1) / numbers[1], warm_inverse = S(1) / numbers[2],
                teacher_largest = numbers[3], teacher_inverse = S(1) / numbers[4];
        // These local copies are necessary, as in loss.cpp: without them the loop is not vectorised.
        const S of_hard = hard, of_soft = soft, of_target = hit, of_any = any, colder = cold;
        row.each(classes, [&](std::int64_t k) {
          const S score = static_cast<S>(z[k]) - largest;
          const S own = math::exp(score) * inverse - (k == target ? of_target : S(0)) - of_any;
          const S apart = math::exp(score * colder) * warm_inverse -
                          math::exp((static_cast<S>(t[k]) - teacher_largest) * colder) * teacher_inverse;
          dz[k] = static_cast<T>(of_hard * own + of_soft * apart);
        });
      });
}

void check_arguments(const Tensor& logits, const Tensor& teacher, const Tensor& targets,
                     double label_smoothing, const Distillation& distillation, const Tensor& normalizers) {
  check_rank("logits", logits, 2);
  const std::int64_t rows = logits.extent(0), classes = logits.extent(1);
  ENCORE_REQUIRE(classes >= 1, "there is at least one class");
  check("teacher", teacher, teacher.dtype, {rows, classes});
  check("targets", targets, DType::int32, {rows});
  check("normalizers", normalizers, sum_type(logits.dtype), {rows, kept_numbers});
  ENCORE_REQUIRE(label_smoothing >= 0.0 && label_smoothing < 1.0,
                 "label smoothing lies in [0, 1), it is " + std::to_string(label_smoothing));
  ENCORE_REQUIRE(
      distillation.temperature > 0.0 && distillation.hard_weight >= 0.0 && distillation.hard_weight <= 1.0,
      "the temperature is above 0 and hard_weight lies in [0, 1]");
}

}  // namespace

void distillation_loss(const Device& device, Tensor logits, Tensor teacher, Tensor targets,
                       double label_smoothing, const Distillation& distillation, Tensor losses,
                       Tensor normalizers) {
  check_arguments(logits, teacher, targets, label_smoothing, distillation, normalizers);
  check("losses", losses, sum_type(logits.dtype), {logits.extent(0)});
  dispatch(logits.dtype, [&](auto own) {
    dispatch(teacher.dtype, [&](auto other) {
      loss_rows<decltype(own), decltype(other)>(device, logits, teacher, targets, label_smoothing,
                                                distillation, losses, normalizers);
    });
  });
}

void distillation_loss_backward(const Device& device, Tensor logits, Tensor teacher, Tensor targets,
                                double label_smoothing, const Distillation& distillation, double scale,
                                Tensor normalizers, Tensor dlogits) {
  check_arguments(logits, teacher, targets, label_smoothing, distillation, normalizers);
  check("dlogits", dlogits, logits.dtype, {logits.extent(0), logits.extent(1)});
  dispatch(logits.dtype, [&](auto own) {
    dispatch(teacher.dtype, [&](auto other) {
      gradient_rows<decltype(own), decltype(other)>(device, logits, teacher, targets, label_smoothing,
                                                    distillation, scale, normalizers, dlogits);
    });
  });
}

}  // namespace encore::kernels
