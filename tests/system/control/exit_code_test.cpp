// SPDX-License-Identifier: BSD-3-Clause
// Tests the exit codes of verbs in the situations listed below (cli/verbs.hpp): 0 done or nothing to do, 1 a
// run failed, 2 nothing was started, 3 the bits differ or cannot be compared, 75 unfinished, to be resumed.
// Scripts of users depend on these numbers, so a row never changes; a new situation is a new row. Each row
// has a folder of its own. Read next: fake_worker.cpp, the scripted worker and its variables.
#include <gtest/gtest.h>

#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

struct Situation {
  const char* name;
  std::map<std::string, std::string> before;  ///< variables of the scripted worker, also set for the command
  bool trained;                               ///< whether tiny.toml is trained before the command
  std::map<std::string, std::string> now;     ///< further variables for the command; they override `before`
  std::vector<std::string> command;
  int code;
};

const std::map<std::string, std::string> calm,
    crash = {{"FAKE_CRASH_AT", "7"}}, fail = {{"FAKE_FAIL_AT", "7"}}, other_bits = {{"FAKE_CHANGE_AT", "4"}},
    elsewhere = {{"FAKE_CHANGE_AT", "4"}, {"FAKE_DEVICE", "another"}},
    unfit = {{"FAKE_CHECK", "model.width:is odd"}};

const std::vector<Situation> situations = {
    // --- 0 ---
    {"run", calm, false, calm, {"run", "tiny.toml"}, 0},
    {"run_nothing_to_do", calm, true, calm, {"run", "tiny.toml"}, 0},
    {"run_goes_on_after_a_crash", crash, true, {{"FAKE_CRASH_AT", "-1"}}, {"run", "tiny.toml"}, 0},
    {"plan", calm, false, calm, {"plan", "tiny.toml"}, 0},
    {"retry_nothing_to_do", calm, true, calm, {"retry", "tiny", "--failed"}, 0},
    {"retry_what_failed", fail, true, {{"FAKE_FAIL_AT", "-1"}}, {"retry", "tiny", "--failed"}, 0},
    {"verify_equal", calm, true, calm, {"verify", "tiny"}, 0},
    {"diff", calm, true, calm, {"diff", "tiny", "tiny"}, 0},
    {"stop_nothing_to_stop", calm, true, calm, {"stop", "tiny"}, 0},
    {"db_check_sound", calm, true, calm, {"db", "check"}, 0},
    {"gc_nothing_to_do", calm, true, calm, {"gc", "-y"}, 0},
    {"help", calm, false, calm, {"help"}, 0},
    // --- 1 ---
    {"run_that_fails", calm, false, fail, {"run", "tiny.toml"}, 1},
    {"retry_that_fails_again", fail, true, fail, {"retry", "tiny", "--failed"}, 1},
    {"verify_whose_worker_fails", calm, true, fail, {"verify", "tiny"}, 1},
    {"verify_whose_worker_crashes", calm, true, crash, {"verify", "tiny"}, 1},
    // --- 2 ---
    {"no_verb", calm, false, calm, {}, 2},
    {"unknown_verb", calm, false, calm, {"trian"}, 2},
    {"unknown_option", calm, false, calm, {"ls", "--jsn"}, 2},
    {"missing_argument", calm, false, calm, {"show"}, 2},
    {"missing_file", calm, false, calm, {"run", "absent.toml"}, 2},
    {"unknown_setting", calm, false, calm, {"run", "tiny.toml", "-S", "model.widht=3"}, 2},
    {"plan_unknown_setting", calm, false, calm, {"plan", "tiny.toml", "-S", "model.widht=3"}, 2},
    {"what_only_the_worker_knows", calm, false, unfit, {"run", "tiny.toml"}, 2},
    {"unknown_run", calm, true, calm, {"show", "tinny"}, 2},
    {"verify_without_database", calm, false, calm, {"verify", "tiny"}, 2},
    {"verify_no_such_checkpoint", calm, true, calm, {"verify", "tiny", "--from-checkpoint", "3"}, 2},
    {"diff_without_a_second", calm, true, calm, {"diff", "tiny"}, 2},
    {"query_that_writes", calm, true, calm, {"query", "DELETE FROM run"}, 2},
    {"rm_purge_without_a_yes", calm, true, calm, {"rm", "--purge", "tiny"}, 2},
    {"unknown_action", calm, false, calm, {"db", "chekc"}, 2},
    {"backup_over_a_file", calm, true, calm, {"db", "backup", "tiny.toml"}, 2},
    // --- 3 ---
    {"verify_different", calm, true, other_bits, {"verify", "tiny"}, 3},
    {"verify_not_comparable", calm, true, elsewhere, {"verify", "tiny"}, 3},
    // --- 75 ---
    {"run_whose_worker_crashes", calm, false, crash, {"run", "tiny.toml"}, 75},
};

class ExitCode : public ::testing::TestWithParam<Situation> {};

TEST_P(ExitCode, IsTheDocumentedOne) {
  const Situation& situation = GetParam();
  Sandbox sandbox;
  for (const auto& [name, value] : situation.before) sandbox.set(name, value);
  if (situation.trained) sandbox.exp({"run", "tiny.toml"});
  for (const auto& [name, value] : situation.now) sandbox.set(name, value);
  const runner::ProgramOutput output = sandbox.exp(situation.command);
  EXPECT_EQ(output.end.exit_code, situation.code) << output.output << output.errors;
  const bool started = std::filesystem::exists(sandbox.folder() / "encore.db");
  EXPECT_FALSE(started && situation.code == 2 && !situation.trained) << "nothing may be started";
  const bool silent = (output.output + output.errors).empty();
  EXPECT_FALSE(silent && situation.code != 0) << "the reason is printed";
}

INSTANTIATE_TEST_SUITE_P(Situations, ExitCode, testing::ValuesIn(situations),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace encore::system_test
