// SPDX-License-Identifier: BSD-3-Clause
// Pair: a fixture with a sweep of two dropouts and some seeds each, trained once by the scripted worker and
// shared by all tests of a suite, which must only read it: comparison_test.cpp, report_test.cpp and
// selection_test.cpp. Several tests compare numbers of these runs, so append to the sweep and do not change
// it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "system/control/sandbox.hpp"

namespace encore::system_test {

/// A suite derives from it and calls `train` in its SetUpTestSuite. Suites run one after another, so one
/// place holds the sandbox of each.
class Pair : public ::testing::Test {
 protected:
  /// `seeds` as in "[1, 2]"; the sweep is pair.toml, its runs are pair-dropout=0.1-s1 and so on.
  static void train(const std::string& seeds) {
    sandbox_ = std::make_unique<Sandbox>();
    std::string sweep = tiny_experiment("pair");
    sweep.replace(sweep.find("seed = 1"), 8, "seeds = " + seeds);
    sandbox_->write("pair.toml", sweep + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n");
    const runner::ProgramOutput output = sandbox_->exp({"run", "pair.toml"});
    ASSERT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  }
  static void TearDownTestSuite() { sandbox_.reset(); }

  static std::string output_of(const std::vector<std::string>& arguments) {
    const runner::ProgramOutput output = sandbox_->exp(arguments);
    EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
    EXPECT_EQ(output.errors, "");
    return output.output;
  }
  static void expect_refused(const std::vector<std::string>& arguments, const std::string& message) {
    const runner::ProgramOutput output = sandbox_->exp(arguments);
    EXPECT_EQ(output.end.exit_code, 2) << output.output;
    EXPECT_TRUE(contains(output.errors, message)) << output.errors;
  }

  static inline std::unique_ptr<Sandbox> sandbox_;
};

}  // namespace encore::system_test
