// SPDX-License-Identifier: BSD-3-Clause
// default_options() gives the options of a class, run_layer() and run_head() compute the values of one layer
// or head, for a plugin's own tests. `exp plugin check` tests the rules that every plugin must keep, but it
// cannot know which values a formula gives. contract/testing.cpp implements them; a test links
// encore::testing. plugins/template/head/my_plugin_test.cpp is an example. Tests of plugin authors call these
// functions, so their signatures never change.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <encore/head.hpp>
#include <encore/layer.hpp>
#include <encore/options.hpp>

namespace encore {

/// Returns the defaults of T::options(), as a run that sets none of them passes them to T. An option without
/// a default (`required`, `optional`) is left out.
template <class T>
Options default_options() {
  Options options;
  const Schema schema = T::options();
  for (const Option& option : schema.options())
    if (option.fallback) options.set_default(option.name, *option.fallback);
  return options;
}
/// Returns the same with one option set.
template <class T>
Options options_with(const std::string& name, OptionValue value) {
  Options options = default_options<T>();
  options.set(name, std::move(value));
  return options;
}

/// Returns the output (N, C), row by row, of one forward pass in double on sequences of these lengths.
/// `layer` has not declared anything yet; parameters have their initial values, matrices and other random
/// ones drawn with seed 1. input: (N, C), N the sum of the lengths. Starts Kokkos if it is not running.
std::vector<double> run_layer(Layer& layer, std::int64_t width, const std::vector<std::int64_t>& lengths,
                              const std::vector<double>& input);

/// The values of the columns that a head asks for, by name. Columns that are not named hold `no_target`, or 0
/// if they are float32.
using HeadColumns = std::map<std::string, std::vector<double>>;

struct HeadResult {
  std::vector<double> losses;                          ///< of the first loss, a value per row of its space
  std::map<std::string, std::vector<double>> outputs;  ///< of `decode`, by name
};

/// Runs score, loss and decode of a head that reads one space, in the same way. states: (rows, C), the rows
/// of that space.
HeadResult run_head(Head& head, std::int64_t width, const std::vector<std::int64_t>& lengths,
                    const std::vector<double>& states, const HeadColumns& columns);

}  // namespace encore
