// SPDX-License-Identifier: BSD-3-Clause
// Relations: how alike the rows of a sequence are. A row x_i of R heads of d channels has in each head the
// distribution softmax_j(x_i x_j / sqrt(d)) over the rows j of its sequence, for any d, so a model can learn
// from one of another width and number of heads (Wang et al. 2021, MiniLMv2). With `[distil]` the host copies
// the teacher's rows after its forward pass and gives them to the student's last layer that has relations
// (Step::taught), which adds to its gradients. HasRelations is the extension; its kernels follow. It is part
// of the ABI of plugins: a change needs a new ENCORE_SDK_VERSION (plugin.hpp).
#pragma once

#include <array>
#include <cstdint>

#include <encore/kernels.hpp>

namespace encore {

/// How the rows of one matrix of the student learn from the rows of the teacher.
struct TaughtRows {
  std::int64_t heads = 1;  ///< R, which divides both widths
  double weight = 1.0;     ///< of the sum over the heads of a row
  Tensor teacher;          ///< (N, C2), rows of the teacher, in the type of sums
  Tensor log_sums;         ///< (N, R, 2): log sum_j exp(x_i x_j / sqrt(d)) of the student and of the teacher,
                           ///< in the type of sums
};

/// TaughtRows of the queries, the keys and the values, in this order.
struct TaughtAttention {
  std::array<TaughtRows, 3> parts;
  double scale = 0.0;  ///< on the sum of all rows' losses
};

/// Self-attention inherits it beside Layer if its queries, keys and values can teach and learn. In a backward
/// pass with Step::taught the layer calls kernels::relations_backward for each of the three, with the rows
/// that relation_parts() returns and their gradients, after it has written these gradients.
class HasRelations {
 public:
  using Parts = std::array<kernels::Slice, 3>;

  virtual ~HasRelations() = default;
  /// Returns the number of channels of the queries, which is also that of the keys and of the values. Called
  /// after declare.
  virtual std::int64_t relation_width() const = 0;
  /// Returns the queries, keys and values (N, relation_width) as the layer multiplies them. Called for a
  /// teacher right after `forward`, for a student after the forward pass of the whole model. In training the
  /// rows lie in buffers of lifetime `saved`.
  virtual Parts relation_parts(const Step& step) const = 0;
};

namespace kernels {

/// y (N, C) = the columns of x, in the type of sums.
void copy_relation_rows(const Device& device, const Slice& x, Tensor y);
/// losses (N, R), in the type of sums: of each row and head, weight / R times KL(teacher's distribution ||
/// student's), with x (N, C) the rows of the student. Writes taught.log_sums.
void relations_loss(const Device& device, const RowSet& rows, const Slice& x, const TaughtRows& taught,
                    Tensor losses);
/// dx (N, C) += scale times the gradient of the sum of these losses. Called after relations_loss on the same
/// rows.
void relations_backward(const Device& device, const RowSet& rows, const Slice& x, const TaughtRows& taught,
                        double scale, const Slice& dx);

}  // namespace kernels
}  // namespace encore
