// SPDX-License-Identifier: BSD-3-Clause
// Helpers of the tests of steps: options with their defaults, messages of errors, and random numbers that are
// the same on every machine. The tests of this folder use them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <encore/error.hpp>
#include <encore/options.hpp>

namespace encore::test {

/// Returns the defaults of T, changed by `settings`.
template <class T>
Options step_options(const std::map<std::string, OptionValue>& settings = {}) {
  Options options;
  const Schema schema = T::options();
  for (const Option& option : schema.options())
    if (option.fallback) options.set_default(option.name, *option.fallback);
  for (const auto& [name, value] : settings) {
    ENCORE_REQUIRE(schema.find(name) != nullptr, name);
    options.set(name, value);
  }
  return options;
}

/// Returns the message of the Error that the function throws; "" if it throws none.
template <class Function>
std::string refusal(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// SplitMix64 (Steele et al. 2014).
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t mixed = state_ += 0x9E3779B97F4A7C15ULL;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBULL;
    return mixed ^ mixed >> 31;
  }
  /// Returns a number in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace encore::test
