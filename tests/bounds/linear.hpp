// SPDX-License-Identifier: BSD-3-Clause
// expect_linear(): the bound of every parser of foreign input. Twice the input is at most twice the work, and
// work and memory are at most a stated multiple of its bytes. The sources of this folder whose names end in
// "_bounds" call it with the worst known inputs of each format. SECURITY.md refers to these tests, so a limit
// is raised only with a reason.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include <encore/error.hpp>

#include "bounds/work_counter.hpp"

namespace encore::bounds {

/// Allowed growth of the work for twice the input. Sorting and balanced trees are counted as linear:
/// n log n grows by 2.15 at 10,000 entries, and tables that double their size add jitter. n^1.5 grows by
/// 2.83 and a square by 4.
inline constexpr double most_growth = 2.3;

enum class Outcome : std::uint8_t { taken, refused };

struct Bound {
  std::size_t size;        ///< n; the input is made at n and at 2 n
  double steps_per_byte;   ///< limit, for the larger input
  double memory_per_byte;  ///< limit of the memory held at once, for the larger input
  Outcome outcome = Outcome::taken;
};

struct Measured {
  Work work;
  std::size_t bytes = 0;
  Outcome outcome = Outcome::taken;
  std::string message = {};  ///< the error, if it was refused
};

template <class Input>
Measured measure(const Input& input, std::size_t bytes, const std::function<void(const Input&)>& read) {
  Measured measured{.work = {}, .bytes = bytes};
  measured.work = work_of([&] {
    try {
      read(input);
    } catch (const Error& error) {
      measured.outcome = Outcome::refused;
      measured.message = std::string(error.what()).substr(0, 200);
    }
  });
  return measured;
}

inline std::size_t bytes_of(const std::string& input) {
  return input.size();
}
/// Returns the bytes of these strings as lines of a file.
inline std::size_t bytes_of(const std::vector<std::string>& input) {
  std::size_t bytes = 0;
  for (const std::string& line : input) bytes += line.size() + 1;
  return bytes;
}

/// Checks the bound: `make(n)` returns the input of size n, and `read` is measured on the inputs of n and 2
/// n. A new type of input needs its own bytes_of().
template <class Make, class Read>
void expect_linear(const Bound& bound, const Make& make, const Read& read) {
  using Input = decltype(make(bound.size));
  const auto measure_at = [&](std::size_t size) {
    const Input input = make(size);
    return measure<Input>(input, bytes_of(input), read);
  };
  measure_at(bound.size);  // a first call makes what a process makes once, such as tables
  const Measured once = measure_at(bound.size), twice = measure_at(2 * bound.size);
  const double growth = static_cast<double>(twice.work.steps) /
                        static_cast<double>(std::max<std::uint64_t>(once.work.steps, 1));
  const double input_growth = static_cast<double>(twice.bytes) / static_cast<double>(once.bytes);
  const double steps = static_cast<double>(twice.work.steps) / static_cast<double>(twice.bytes);
  const double memory = static_cast<double>(twice.work.peak) / static_cast<double>(twice.bytes);
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::cout << std::fixed << std::setprecision(2) << test->test_suite_name() << '.' << test->name() << ": "
            << twice.bytes << " bytes, growth " << growth << ", " << steps << " steps and " << memory
            << " bytes of memory for each\n";
  EXPECT_LE(growth, most_growth * input_growth / 2.0) << "twice the input is more than twice the work";
  EXPECT_LE(steps, bound.steps_per_byte) << "steps for each byte";
  EXPECT_LE(memory, bound.memory_per_byte) << "bytes of memory for each byte";
  EXPECT_EQ(once.outcome, bound.outcome) << once.message;
  EXPECT_EQ(twice.outcome, bound.outcome) << twice.message;
}

}  // namespace encore::bounds
