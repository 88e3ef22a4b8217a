// What a plugin's own tests need beside `exp plugin check`, which knows every rule but not what a layer
// should compute: the values. Link encore::testing.
#pragma once

#include <vector>

#include <encore/layer.hpp>

namespace encore {

/// The output (N, C), row by row, of one forward pass in double on sequences of these lengths. `layer` has
/// not declared anything yet; parameters have their initial values, matrices and other random ones drawn with
/// seed 1. input: (N, C), N the sum of the lengths. Starts Kokkos where nobody has.
std::vector<double> run_layer(Layer& layer, std::int64_t width, const std::vector<std::int64_t>& lengths,
                              const std::vector<double>& input);

}  // namespace encore
