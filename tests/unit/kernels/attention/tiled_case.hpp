// SPDX-License-Identifier: BSD-3-Clause
// TiledCase: the tensors of one attention, and the comparison of its results with attention_reference().
// attention_tiles_test.cpp and attention_tensor_core_test.cpp use it, because they launch the kernels for
// tiles themselves instead of calling kernels::attention. The reference must stay attention_reference(),
// which is also that of kernels::attention.
#pragma once

#include <encore/view.hpp>

#include "kernels/attention/attention_arguments.hpp"
#include "kernels/attention/attention_problem.hpp"
#include "unit/kernels/attention/attention_reference.hpp"

namespace encore::test {

/// The tensors of one case. q (N2, C) lies alone, k and v side by side in kv (N, 2 C); dq and dkv have the
/// same shapes.
class TiledCase {
 public:
  TiledCase(AttentionCase attention_case, DType type)
      : of_(std::move(attention_case)),
        queries_(of_.queries, of_.positions),
        keys_(of_.keys),
        q(random_tensor(type, {queries_.count(), of_.width}, 1)),
        kv(random_tensor(type, {keys_.count(), 2 * of_.width}, 2)),
        dout(random_tensor(type, {queries_.count(), of_.width}, 3)),
        out(type, {queries_.count(), of_.width}),
        log_sum(sum_type(type), {queries_.count(), of_.options.heads}),
        dq(type, {queries_.count(), of_.width}),
        dkv(type, {keys_.count(), 2 * of_.width}),
        dbias(sum_type(type), {keys_.count(), 2 * of_.options.heads}) {}

  /// The addresses of all tensors, for kernels of the element type T.
  template <class T>
  struct Operands {
    kernels::AttentionProblem problem;
    kernels::SliceRows<const T> q, k, v;
    T* out;
    Sum<T>* log_sum;
    const T* dout;
    kernels::SliceRows<T> dq, dk, dv;
    Sum<T>* dbias;
  };
  template <class T>
  Operands<T> operands() {
    return {kernels::make_problem(queries_, keys_, of_.options, of_.width),
            kernels::slice_rows<const T>(all(q)),
            kernels::slice_rows<const T>(half(kv, 0)),
            kernels::slice_rows<const T>(half(kv, 1)),
            elements<T>(out),
            elements<Sum<T>>(log_sum),
            elements<T>(dout),
            kernels::slice_rows<T>(all(dq)),
            kernels::slice_rows<T>(half(dkv, 0)),
            kernels::slice_rows<T>(half(dkv, 1)),
            of_.options.bias ? elements<Sum<T>>(dbias) : nullptr};
  }

  /// Fills the results with NaN, so that the comparison finds values that a kernel did not write.
  void forget_results() {
    for (contract::OwnedTensor* result : {&out, &log_sum, &dq, &dkv, &dbias}) result->fill(NAN);
  }

  AttentionResult reference() const {
    return attention_reference(of_, q.values(), columns_of(kv.values(), 2 * of_.width, 0, of_.width),
                               columns_of(kv.values(), 2 * of_.width, of_.width, of_.width), dout.values());
  }

  /// Expects the results of the reference. Gradients may differ by ten times the tolerance.
  void expect(double tolerance, const std::string& what) const {
    const AttentionResult expected = reference();
    const bool rounds = size_of(out.tensor().dtype) == 2;
    expect_close(out, expected.out, tolerance, what + " out");
    expect_close(log_sum, expected.log_sum, rounds ? 1e-5 : tolerance, what + " log_sum");
    expect_close(dq, expected.dq, 10 * tolerance, what + " dq");
    expect_close(columns_of(dkv.values(), 2 * of_.width, 0, of_.width), expected.dk, 10 * tolerance,
                 what + " dk");
    expect_close(columns_of(dkv.values(), 2 * of_.width, of_.width, of_.width), expected.dv, 10 * tolerance,
                 what + " dv");
    if (of_.options.bias) expect_close(dbias, expected.dbias, 10 * tolerance, what + " dbias");
  }

  std::vector<Values> results() const { return {out.values(), log_sum.values(), dq.values(), dkv.values()}; }

 private:
  kernels::Slice all(const contract::OwnedTensor& tensor) const { return {tensor, 0, of_.width}; }
  kernels::Slice half(const contract::OwnedTensor& tensor, std::int64_t number) const {
    return {tensor, number * of_.width, of_.width};
  }

  AttentionCase of_;
  RowsAt queries_, keys_;

 public:
  contract::OwnedTensor q, kv, dout, out, log_sum, dq, dkv, dbias;
};

inline Lengths zeros(const Lengths& lengths) {
  return Lengths(lengths.size(), 0);
}

}  // namespace encore::test
