// SPDX-License-Identifier: BSD-3-Clause
// HasRelations, the extension of a layer whose relations a student learns, and its kernels. A relation says
// how similar two rows of a sequence are (Wang et al. 2021, MiniLMv2): the rows are cut into R heads of d
// channels, and in each head row i has the distribution softmax_j(x_i x_j / sqrt(d)) over the rows j of its
// sequence. Its size does not depend on d, so teacher and student may differ in width. With `[distil]` the
// host copies the teacher's rows after its forward pass. It gives them to the last layer of the student with
// relations (Step::taught), which adds to its gradients. Read next: layer.hpp. The header is part of the ABI
// of plugins: a change needs a new ENCORE_SDK_VERSION (plugin.hpp).
#pragma once

#include <array>
#include <cstdint>

#include <encore/kernels.hpp>

namespace encore {

/// How the rows of one matrix of the student learn from the rows of the teacher.
struct TaughtRows {
  std::int64_t heads = 1;  ///< R, which divides the widths of teacher and student
  double weight = 1.0;     ///< factor on the mean over the heads of a row
  Tensor teacher;          ///< (N, C2), rows of the teacher, in the type of sums
  Tensor log_sums;         ///< (N, R, 2): log sum_j exp(x_i x_j / sqrt(d)) of the student and of the teacher,
                           ///< in the type of sums
};

/// TaughtRows of the queries, the keys and the values, in this order.
struct TaughtAttention {
  std::array<TaughtRows, 3> parts;
  double scale = 0.0;  ///< factor on the gradient of the sum of the losses of all rows
};

/// A layer of self-attention inherits HasRelations beside Layer if its queries, keys and values can teach and
/// learn. In a backward pass with Step::taught the layer first writes the gradients of the three matrices.
/// Then it calls kernels::relations_backward for each of them, with the rows that relation_parts() returns.
class HasRelations {
 public:
  using Parts = std::array<kernels::Slice, 3>;

  virtual ~HasRelations() = default;
  /// Returns the number of channels of the queries, which is also that of the keys and of the values. The
  /// host calls it after declare.
  virtual std::int64_t relation_width() const = 0;
  /// Returns the queries, keys and values (N, relation_width) as the layer multiplies them. The host calls it
  /// for a teacher immediately after `forward`, and for a student after the forward pass of the whole model.
  /// In training the rows lie in buffers of lifetime `saved`.
  virtual Parts relation_parts(const Step& step) const = 0;
};

namespace kernels {

/// Writes y (N, C), the columns of x in the type of sums.
void copy_relation_rows(const Device& device, const Slice& x, Tensor y);
/// Writes losses (N, R), in the type of sums: for each row and head, weight / R times KL(distribution of the
/// teacher || distribution of the student), with x (N, C) the rows of the student. Writes taught.log_sums
/// too, which relations_backward reads.
void relations_loss(const Device& device, const RowSet& rows, const Slice& x, const TaughtRows& taught,
                    Tensor losses);
/// Adds to dx (N, C) scale times the gradient of the sum of these losses. Call it after relations_loss on the
/// same rows.
void relations_backward(const Device& device, const RowSet& rows, const Slice& x, const TaughtRows& taught,
                        double scale, const Slice& dx);

}  // namespace kernels
}  // namespace encore
