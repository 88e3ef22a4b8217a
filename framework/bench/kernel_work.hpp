// SPDX-License-Identifier: BSD-3-Clause
// work_of_kernel(): the operations and bytes of each kernel in a step, by its label. StepCase calls it for
// each kernel of a watched step; `exp bench` divides by the seconds. A kernel without a row in
// kernel_work.cpp is shown as unknown, as are kernels on rows of a model with a decoder, since one label then
// covers source and target. Products are not here: their shape is their label
// (kernels/products/product_label.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "data/packing.hpp"
#include "model/model.hpp"

namespace encore::bench {

/// Operations are those of the formula (a fused multiply-add is two; exp, sqrt and a division are one each).
/// Bytes count every operand once, however often the kernel reads it: the bytes that memory must at least
/// transfer if nothing is in a cache.
/// On a host, products include the work of column_sums, relu_backward and gelu_backward, which are kernels of
/// their own only on a GPU.
struct KernelWork {
  double flops = 0.0;
  double bytes = 0.0;
};

/// The numbers in the formulas of kernel_work.cpp. Letters are those of encore/shape.hpp.
struct StepShape {
  BatchSize batch;                   ///< N, B, the sum of T squared
  std::int64_t distinct = 0;         ///< number of different tokens in the batch
  std::int64_t width = 0;            ///< C
  std::int64_t table_width = 0;      ///< E, of the embedding; equal to C unless that is factorized
  std::int64_t head_size = 0;        ///< D
  std::int64_t attention_width = 0;  ///< H D
  std::int64_t classes = 0;          ///< K
  std::int64_t parameters = 0;       ///< P
  memory::GradientCounts gradients;  ///< counts of parameters that had a gradient in the step
  std::int64_t state_blocks = 0;     ///< number of the optimizer's states, each of P values
  bool shrinks = false;              ///< weights decay apart from their gradient
  bool penalty = false;              ///< weights decay as part of their gradient, or of what is made of it
  std::int64_t copied = 0;           ///< parameters that passes read as a copy in the type of activations
  std::int64_t bias_rows = 0;        ///< sum of the outputs of all matrices with a bias
  std::int64_t hidden_rows = 0;      ///< sum of F over the feed-forward layers without a gate
  std::int64_t gated_rows = 0;       ///< sum of F over those with one
  bool hidden_tanh = false;          ///< whether a feed-forward layer has this activation
  std::size_t element = 4;           ///< bytes of an activation
  std::size_t sum = 4;               ///< bytes of a statistic, a bias, a gradient of a parameter
};

/// Returns how many blocks use a parameter: more than one if blocks share theirs (model.groups).
std::int64_t times_used(const memory::ParameterSlice& parameter, const config::ModelTable& model);

/// Returns the numbers of this step for work_of_kernel(). `type` is that of activations. Call it after the
/// step, because the step determines the rows that have a gradient.
StepShape shape_of_step(const model::Model& model, const config::Experiment& experiment, DType type,
                        const data::PackedBatch& batch);

/// Returns the work of one step, in which the kernel was launched `calls` times; nothing if it is unknown.
std::optional<KernelWork> work_of_kernel(std::string_view label, const StepShape& shape, std::int64_t calls);

}  // namespace encore::bench
