// SPDX-License-Identifier: BSD-3-Clause
// TensorDistance: how far two checkpoints of one model are apart, tensor by tensor. Place in the flow:
// verifier.cpp and `exp diff --drift` -> drift.hpp -> here. The distances are stored with a verification
// (DriftFigures in drift.hpp), so their definitions do not change. Read next: record/safetensors.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace encore::runner {

/// The beginning of the names of parameters in a checkpoint. In a weights file the names have no prefix.
inline constexpr std::string_view parameter_prefix = "parameter/";

struct TensorDistance {
  std::string name;            ///< as in the file: "parameter/encoder.0.attention.qkv.weight"
  std::int64_t values = 0;     ///< in the tensor
  std::int64_t different = 0;  ///< of them, with other bits
  /// False for a tensor that only one file has, or with another shape or type: all its values count as
  /// different, and nothing below is known.
  bool comparable = true;
  /// The largest distance of two values: how many numbers of that type lie between them, plus one. 0 and -0
  /// are 0 apart; a value that is not finite on either side only counts as different, here and below.
  std::uint64_t ulps = 0;
  double largest = 0.0;             ///< largest absolute difference
  double difference_squared = 0.0;  ///< sum over the values of (one - other)^2
  double one_squared = 0.0;         ///< sum of one^2
  double other_squared = 0.0;

  /// |one - other| / max(|one|, |other|) in the Euclidean norm: the same both ways round, 0 for two zeros, at
  /// most 2.
  double relative() const;
  /// Adds the values of another tensor, so that both count as one.
  void add(const TensorDistance& tensor);
};

/// Returns the distance of every tensor of either file, in the order of their names. Throws Error for a file
/// that is not a checkpoint.
std::vector<TensorDistance> tensor_distances(const std::filesystem::path& one,
                                             const std::filesystem::path& other);
/// Returns the distances of the parameters between a weights file (record/weights_file.hpp) and a checkpoint.
/// Names are those of the checkpoint.
std::vector<TensorDistance> weight_distances(const std::filesystem::path& weights,
                                             const std::filesystem::path& checkpoint);

}  // namespace encore::runner
