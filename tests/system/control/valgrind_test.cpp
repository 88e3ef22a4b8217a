// SPDX-License-Identifier: BSD-3-Clause
// Runs the control program under valgrind: no invalid access, no use of uninitialized memory, no leak. It
// makes few calls, because each takes about twenty times its usual time. Skipped without valgrind. A finding
// must be mended, not suppressed.
#include <gtest/gtest.h>

#include "support/places.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

TEST(Valgrind, FindsNothingInPlanLsShowAndReport) {
  const Sandbox sandbox;
  if (!sandbox.shell("command -v valgrind").end.success())
    GTEST_SKIP() << "valgrind is not there; apt-get install valgrind";
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml", "--quiet"}).end.exit_code, 0);
  const std::string valgrind =
      "valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite "
      "--trace-children=yes --trace-children-skip='*worker*' "  // exp becomes exp-report
      "--errors-for-leak-kinds=definite " ENCORE_BUILD_DIR "/bin/exp ";
  for (const char* verb : {"plan tiny.toml", "ls", "show tiny", "report tiny -o report.html"}) {
    const runner::ProgramOutput output = sandbox.shell(valgrind + verb);
    EXPECT_EQ(output.end.exit_code, 0) << verb << "\n" << output.end.text() << "\n" << output.errors;
    EXPECT_EQ(output.errors.find("=="), std::string::npos) << verb << "\n" << output.errors;
  }
}

}  // namespace
}  // namespace encore::system_test
