// SPDX-License-Identifier: BSD-3-Clause
// RealWorkerTest: the fixture of tests that train with the real worker, encore-worker, in a sandbox
// (sandbox.hpp); it skips them where the worker does not run. Also experiments that several of these tests
// train. Experiments are shared, so a change of one must be run with all tests that include this file.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "runner/worker_process.hpp"
#include "support/places.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {

class RealWorkerTest : public ::testing::Test {
 protected:
  RealWorkerTest() : sandbox_(true) {}
  /// Skips the test if the worker does not run: a build for a GPU is also made on machines without one.
  void SetUp() override {
    const runner::ProgramOutput version =
        runner::run_program(ENCORE_BUILD_DIR "/bin/encore-worker", {"version"});
    if (!version.end.success()) GTEST_SKIP() << "this worker does not run here: " << version.errors;
  }

  std::string output_of(const std::vector<std::string>& arguments, const std::string& input = "") const {
    const runner::ProgramOutput output = sandbox_.exp(arguments, input);
    EXPECT_EQ(output.end.exit_code, 0) << output.errors;
    return output.output;
  }
  /// Returns the message of a call that must be rejected.
  std::string refusal_of(const std::vector<std::string>& arguments) const {
    const runner::ProgramOutput output = sandbox_.exp(arguments);
    EXPECT_EQ(output.end.exit_code, 2) << output.output;
    return output.errors;
  }
  /// Returns the message of an experiment that must not start.
  std::string refusal(const std::string& experiment) const {
    sandbox_.write("refused.toml", experiment);
    const runner::ProgramOutput output = sandbox_.exp({"run", "refused.toml"});
    EXPECT_EQ(output.end.exit_code, 2) << output.output;
    EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "encore.db"));
    return output.errors;
  }

  Sandbox sandbox_;
};

/// Adds contrary.conll, a development set in which every word has a label that the training set never has:
/// learning makes its loss larger.
inline void write_contrary_set(const Sandbox& sandbox) {
  std::istringstream lines(sandbox.read("dev.conll"));
  std::string contrary;
  for (std::string line; std::getline(lines, line); contrary += '\n') {
    const std::size_t label = line.rfind('\t') + 1;
    if (label != 0) line.replace(label, std::string::npos, "I-LOC");
    contrary += line;
  }
  sandbox.write("contrary.conll", contrary);
}

/// Returns tiny.toml with such a small learning rate that no prediction changes, and a development set whose
/// loss grows: the first epoch stays the best, and its checkpoint is kept beside that of the last.
inline std::string best_at_first(const Sandbox& sandbox) {
  write_contrary_set(sandbox);
  std::string text = tiny_experiment();
  text.replace(text.find("1e-2"), 4, "1e-6");
  return text.replace(text.find("dev.conll"), 9, "contrary.conll");
}

}  // namespace encore::system_test
