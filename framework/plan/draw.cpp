// SPDX-License-Identifier: BSD-3-Clause
// Draws the random values of a sweep, and of a search with method random. proposal.cpp and search/ call it. A
// draw is a function of seed, number and key, so that draw 7 is the same whether 8 or 100 are made, and in
// any order. These functions never change: stored sweeps and searches are drawn by them. Declared in
// sweep.hpp.
#include <charconv>
#include <cmath>

#include "plan/sweep.hpp"

namespace encore::plan {

namespace {

// Mixes the bits: the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
std::uint64_t mix(std::uint64_t bits) {
  bits += 0x9E3779B97F4A7C15U;
  bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
  bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
  return bits ^ (bits >> 31U);
}

// Returns the hash FNV-1a of a key, which gives every option its own stream of random numbers.
std::uint64_t hash(const std::string& key) {
  std::uint64_t bits = 0xCBF29CE484222325U;
  for (const char letter : key) bits = (bits ^ static_cast<unsigned char>(letter)) * 0x100000001B3U;
  return bits;
}

// Rounds to six digits, which are short in tables and names. Identities then do not depend on the last bit of
// exp, in which two C libraries may differ.
double rounded(double value, double low, double high) {
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific, 5).ptr;
  double result = value;
  std::from_chars(buffer, end, result);
  return std::min(std::max(result, low), high);
}

}  // namespace

double uniform_draw(std::int64_t seed, std::int64_t number, const std::string& key) {
  const std::uint64_t bits =
      mix(mix(mix(hash(key)) + static_cast<std::uint64_t>(seed)) + static_cast<std::uint64_t>(number));
  return static_cast<double>(bits >> 11U) * 0x1p-53;
}

double coordinate_at(const RandomVariable& variable, double share) {
  const double low = variable.low;
  const double high = variable.high;
  switch (variable.law) {
    case RandomVariable::Law::uniform:
      return rounded(low + share * (high - low), low, high);
    case RandomVariable::Law::log_uniform:
      return rounded(std::exp(std::log(low) + share * (std::log(high) - std::log(low))), low, high);
    case RandomVariable::Law::integer:
      return low + std::floor(share * (high - low + 1.0));
    case RandomVariable::Law::log_integer: {
      const double ratio = std::log(high + 0.5) - std::log(low - 0.5);
      const double value = std::exp(std::log(low - 0.5) + share * ratio);
      // The value is rounded to six digits first, for the reason given at rounded().
      return std::min(std::max(std::round(rounded(value, low - 0.5, high + 0.5)), low), high);
    }
    case RandomVariable::Law::choice:
      break;
  }
  return std::floor(share * static_cast<double>(variable.values.size()));
}

config::Value value_of(const RandomVariable& variable, double coordinate) {
  switch (variable.law) {
    case RandomVariable::Law::uniform:
    case RandomVariable::Law::log_uniform:
      return {coordinate, variable.origin};
    case RandomVariable::Law::integer:
    case RandomVariable::Law::log_integer:
      return {static_cast<std::int64_t>(coordinate), variable.origin};
    case RandomVariable::Law::choice:
      break;
  }
  return variable.values[static_cast<std::size_t>(coordinate)];
}

config::Value draw(const RandomVariable& variable, std::int64_t seed, std::int64_t number) {
  return value_of(variable, coordinate_at(variable, uniform_draw(seed, number, variable.key)));
}

}  // namespace encore::plan
