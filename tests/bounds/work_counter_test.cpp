// SPDX-License-Identifier: BSD-3-Clause
// Tests the counter itself (work_counter.hpp, linear.hpp): it distinguishes a linear parser from a quadratic
// one, sees what libraries copy and allocate, and counts the same twice. Without these tests the bounds of
// this folder could pass without measuring anything.
#include <gtest/gtest-spi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bounds/linear.hpp"

namespace encore::bounds {
namespace {

/// The compiler must not remove work whose result is never read; it is stored here.
volatile std::size_t kept = 0;

std::string commas(std::size_t count) {
  return std::string(count, ',');
}

constexpr Bound bound{.size = 4096, .steps_per_byte = 1e9, .memory_per_byte = 1e9};

std::size_t fields_in_one_pass(const std::string& text) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text, ','));
}

/// Counts fields by cutting one off and copying the rest: quadratic by copies.
std::size_t fields_by_copies(const std::string& text) {
  std::size_t fields = 1;
  std::string rest = text;
  for (std::size_t at = rest.find(','); at != std::string::npos; at = rest.find(',')) {
    rest = rest.substr(at + 1);
    ++fields;
  }
  return fields;
}

/// Counts fields by counting the separators before each one: quadratic by loops.
std::size_t fields_by_loops(const std::string& text) {
  std::size_t fields = 1, seen = 0;
  for (std::size_t end = 0; end < text.size(); ++end)
    for (std::size_t at = 0; at < end; ++at) seen += text[at] == ',';
  for (const char letter : text) fields += letter == ',';
  return fields + (seen == 0 ? 1 : 0);
}

/// Searches the rest of the text from every position for a letter that it does not have: quadratic by
/// comparisons of the library.
std::size_t fields_by_searches(const std::string& text) {
  std::size_t fields = 1;
  for (std::size_t end = 0; end < text.size(); ++end)
    fields += text.find('#', end) == std::string::npos ? 1 : 0;
  return fields;
}

void expect_linear_of_copies() {
  expect_linear(bound, commas, [](const std::string& text) { kept = fields_by_copies(text); });
}
void expect_linear_of_loops() {
  expect_linear(bound, commas, [](const std::string& text) { kept = fields_by_loops(text); });
}
void expect_linear_of_searches() {
  expect_linear(bound, commas, [](const std::string& text) { kept = fields_by_searches(text); });
}

TEST(WorkCounter, PassesALinearParser) {
  expect_linear(bound, commas, [](const std::string& text) { kept = fields_in_one_pass(text); });
}

TEST(WorkCounter, FailsAQuadraticParser) {
  EXPECT_NONFATAL_FAILURE(expect_linear_of_copies(), "twice the input is more than twice the work");
  EXPECT_NONFATAL_FAILURE(expect_linear_of_loops(), "twice the input is more than twice the work");
  EXPECT_NONFATAL_FAILURE(expect_linear_of_searches(), "twice the input is more than twice the work");
}

TEST(WorkCounter, FailsAParserThatTakesTooMuchMemory) {
  EXPECT_NONFATAL_FAILURE(
      expect_linear({.size = 4096, .steps_per_byte = 1e9, .memory_per_byte = 8.0}, commas,
                    [](const std::string& text) { kept = std::vector<double>(2 * text.size(), 1.0).size(); }),
      "bytes of memory for each byte");
}

TEST(WorkCounter, FailsAParserThatRefusesAValidInput) {
  const auto refuse_in_private = [] {
    expect_linear(bound, commas, [](const std::string&) { throw Error("no commas here"); });
  };
  ::testing::TestPartResultArray failures;
  {
    ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    refuse_in_private();
  }
  ASSERT_GT(failures.size(), 0);
  EXPECT_NE(std::string(failures.GetTestPartResult(failures.size() - 1).message()).find("no commas here"),
            std::string::npos);
}

TEST(WorkCounter, CountsTheSameTwice) {
  const std::string text = commas(1000);
  const auto count = [&] { return work_of([&] { kept = fields_by_copies(text); }); };
  const Work first = count(), second = count();
  EXPECT_EQ(first.steps, second.steps);
  EXPECT_EQ(first.peak, second.peak);
  EXPECT_EQ(first.allocated, second.allocated);
  EXPECT_GT(first.allocated, 1000u * 500u);
  EXPECT_LT(first.peak, 1000u * 4u);
}

}  // namespace
}  // namespace encore::bounds
