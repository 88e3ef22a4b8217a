// What tests share that train with the real worker in a sandbox.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "runner/worker_process.hpp"
#include "support/places.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {

class RealWorkerTest : public ::testing::Test {
 protected:
  RealWorkerTest() : sandbox_(true) {}
  /// A build for a GPU is also made, and its other tests run, on machines that have none.
  void SetUp() override {
    const ProgramOutput version = run_program(ENCORE_BUILD_DIR "/bin/encore-worker", {"version"});
    if (!version.end.success()) GTEST_SKIP() << "this worker does not run here: " << version.errors;
  }

  std::string output_of(const std::vector<std::string>& arguments, const std::string& input = "") const {
    const ProgramOutput output = sandbox_.exp(arguments, input);
    EXPECT_EQ(output.end.exit_code, 0) << output.errors;
    return output.output;
  }
  /// What is said of a call that must be refused.
  std::string refusal_of(const std::vector<std::string>& arguments) const {
    const ProgramOutput output = sandbox_.exp(arguments);
    EXPECT_EQ(output.end.exit_code, 2) << output.output;
    return output.errors;
  }
  /// What is said of an experiment that must not start.
  std::string refusal(const std::string& experiment) const {
    sandbox_.write("refused.toml", experiment);
    const ProgramOutput output = sandbox_.exp({"run", "refused.toml"});
    EXPECT_EQ(output.end.exit_code, 2) << output.output;
    EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "encore.db"));
    return output.errors;
  }

  Sandbox sandbox_;
};

}  // namespace encore::system_test
