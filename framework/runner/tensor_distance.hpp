// Tensor distance: how far two checkpoints of one model are apart, tensor by tensor, in units in the last
// place. Place in the flow: verifier.cpp, where both sides have a checkpoint of one step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace encore {

struct TensorDistance {
  std::string name;            ///< as in the file: "parameter/encoder.0.attention.qkv.weight"
  std::int64_t values = 0;     ///< in the tensor
  std::int64_t different = 0;  ///< of them, with other bits
  /// The largest distance of two values: how many numbers of that type lie between them, plus one. 0 and -0
  /// are 0 apart; of a NaN no distance is known, it only counts as different.
  std::uint64_t ulps = 0;
  double largest = 0.0;  ///< largest absolute difference
};

/// The tensors whose bits differ, in the order of their names. A tensor that only one file has, or with
/// another shape or type, counts with all its values and without a distance. Throws Error for a file that is
/// no checkpoint.
std::vector<TensorDistance> tensor_distances(const std::filesystem::path& one,
                                             const std::filesystem::path& other);

}  // namespace encore
