// What a plugin's own tests need beside `exp plugin check`, which knows every rule but not what a layer or a
// head should compute: the values. Link encore::testing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <encore/head.hpp>
#include <encore/layer.hpp>

namespace encore {

/// The output (N, C), row by row, of one forward pass in double on sequences of these lengths. `layer` has
/// not declared anything yet; parameters have their initial values, matrices and other random ones drawn with
/// seed 1. input: (N, C), N the sum of the lengths. Starts Kokkos if it is not running.
std::vector<double> run_layer(Layer& layer, std::int64_t width, const std::vector<std::int64_t>& lengths,
                              const std::vector<double>& input);

/// What a head sees beside states: the values of the columns it asks for, those that are not named being
/// `no_target`, or 0 in columns of float32.
using HeadColumns = std::map<std::string, std::vector<double>>;

struct HeadResult {
  std::vector<double> losses;                          ///< of the first loss, a value per row of its space
  std::map<std::string, std::vector<double>> outputs;  ///< of `decode`, by name
};

/// The same for a head that reads one space. states: (rows, C), the rows of that space.
HeadResult run_head(Head& head, std::int64_t width, const std::vector<std::int64_t>& lengths,
                    const std::vector<double>& states, const HeadColumns& columns);

}  // namespace encore
