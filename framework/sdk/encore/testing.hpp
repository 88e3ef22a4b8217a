// What a plugin's own tests need beside `exp plugin check`, which knows every rule but not what a layer or a
// head should compute: the values. Link encore::testing.
#pragma once

#include <cstdint>
#include <vector>

#include <encore/head.hpp>
#include <encore/layer.hpp>

namespace encore {

/// The output (N, C), row by row, of one forward pass in double on sequences of these lengths. `layer` has
/// not declared anything yet; parameters have their initial values, matrices and other random ones drawn with
/// seed 1. input: (N, C), N the sum of the lengths. Starts Kokkos where nobody has.
std::vector<double> run_layer(Layer& layer, std::int64_t width, const std::vector<std::int64_t>& lengths,
                              const std::vector<double>& input);

struct HeadOutput {
  std::vector<double> losses;         ///< (N), of `loss`
  std::vector<std::int32_t> classes;  ///< (N), of `decode`
};

/// The same for a head. states: (N, C); targets: (N), `no_target` where a row has none.
HeadOutput run_head(Head& head, std::int64_t width, const std::vector<std::int64_t>& lengths,
                    const std::vector<double>& states, const std::vector<std::int32_t>& targets);

}  // namespace encore
