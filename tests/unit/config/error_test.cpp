// SPDX-License-Identifier: BSD-3-Clause
// Tests Problems (config/error.hpp), in which config/ and plan/ collect everything that is wrong with an
// experiment, so that one call of `exp` shows all of it: equal problems are shown once, at most 50 are
// printed, and of thousands only `most_problems` are kept. Both numbers may change; equal problems must be
// shown once.
#include "config/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/limits.hpp"

namespace encore::config {
namespace {

/// Returns problems on the lines 1 to `count` of one file.
Problems many(int count) {
  Problems problems;
  for (int line = 1; line <= count; ++line) problems.add({"a.toml", line, 1}, "x", "wrong");
  return problems;
}

std::string text_of(const Problems& problems) {
  try {
    problems.require_none();
  } catch (const ConfigErrors& errors) {
    return errors.what();
  }
  return "no problem";
}

TEST(Problems, AreSaidOnce) {
  Problems problems = many(2);
  problems.add({"a.toml", 2, 1}, "x", "wrong");
  EXPECT_EQ(text_of(problems), "a.toml:1:1: wrong\na.toml:2:1: wrong");
}

TEST(Problems, OfManyTheFirstAreShownAndTheOthersCounted) {
  const std::string fifty = text_of(many(50));
  EXPECT_EQ(std::ranges::count(fifty, '\n'), 49);
  const std::string text = text_of(many(60));
  EXPECT_EQ(std::ranges::count(text, '\n'), 50);
  EXPECT_TRUE(text.ends_with("\na.toml:50:1: wrong\nand 10 more")) << text;
}

TEST(Problems, OfThousandsNoMoreAreTaken) {
  const Problems problems = many(5000);
  EXPECT_EQ(problems.all().size(), most_problems);
  EXPECT_TRUE(text_of(problems).ends_with("\nand at least 950 more"));
}

}  // namespace
}  // namespace encore::config
