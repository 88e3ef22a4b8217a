// SPDX-License-Identifier: BSD-3-Clause
// Tests what is reported if a plugin crashes, throws or hangs while a run trains (worker/train_verb.cpp,
// runner/attempt_end.hpp): the messages and the records name the pass, the layer and the plugin's file. The
// plugins are tests/contract/fixtures/trouble.cpp and fixtures/undeclared_option.cpp. The words may change; a
// message must name the plugin and the layer.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "support/places.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

constexpr const char* started =
    "SELECT count(*) FROM attempt WHERE state = 'running' AND started_event IS NOT NULL";

class PluginInTrouble : public ::testing::Test {
 protected:
  void SetUp() override {
    const runner::ProgramOutput version =
        runner::run_program(ENCORE_BUILD_DIR "/bin/encore-worker", {"version"});
    if (!version.end.success()) GTEST_SKIP() << "this worker does not run here: " << version.errors;
  }

  /// Writes an experiment whose feed-forward layer is one of tests/contract/fixtures.
  void use(const std::string& plugin, const std::string& options) const {
    const std::filesystem::path folder = sandbox.folder() / "plugins";
    std::filesystem::create_directories(folder);
    for (const std::string& file : {plugin + ".so", plugin + ".json"})
      std::filesystem::copy_file(std::filesystem::path(ENCORE_BUILD_DIR "/tests/contract/samples") / file,
                                 folder / file, std::filesystem::copy_options::overwrite_existing);
    const std::string layer = "type = \"feed_forward\"\nhidden = 32\n";
    std::string text = "plugin_path = [\"plugins\"]\n" + tiny_experiment();
    text.replace(text.find(layer), layer.size(), "type = \"" + plugin + "\"\n" + options + "\n");
    sandbox.write("tiny.toml", text);
  }
  std::string place(const std::string& pass) const {
    return "during " + pass + " of encoder.0.feed_forward, layer \"trouble\" of plugin " + file();
  }
  std::string file() const { return (sandbox.folder() / "plugins/trouble.so").string(); }

  Sandbox sandbox{true};
};

TEST_F(PluginInTrouble, ACrashNamesPassLayerAndPlugin) {
  struct Case {
    const char *options, *pass, *signal;
  };
  for (const Case& one :
       {Case{"how = \"null_pointer\"", "forward", "signal 11 (Segmentation fault)"},
        Case{"how = \"null_pointer\"\npass = \"backward\"", "backward", "signal 11 "},
        Case{"how = \"stack_overflow\"", "forward", "signal 11 (Segmentation fault)"},
        Case{"how = \"kernel\"", "forward", "signal 11 (Segmentation fault)"},
        Case{"how = \"signal\"\nsignal = 6", "forward", "signal 6 (Aborted)"},
        Case{"how = \"signal\"\nsignal = 7", "forward", "signal 7 (Bus error)"},
        Case{"how = \"signal\"\nsignal = 4", "forward", "signal 4 (Illegal instruction)"},
        Case{"how = \"signal\"\nsignal = 8", "forward", "signal 8 (Floating point exception)"}}) {
    use("trouble", one.options);
    const runner::ProgramOutput run = sandbox.exp({"run", "tiny.toml", "--threads", "2", "--fresh"});
    EXPECT_EQ(run.end.exit_code, 75) << run.output << run.errors;
    EXPECT_TRUE(contains(run.errors, std::string(" was cut off: the worker ended with ") + one.signal))
        << one.options << run.errors;
    EXPECT_TRUE(contains(run.errors, place(one.pass))) << one.options << run.errors;
    EXPECT_TRUE(contains(run.errors, "check the plugin: exp plugin check " + file() + "\n")) << run.errors;
    EXPECT_TRUE(contains(run.errors,
                         "run the same command again; it starts again, because it has no checkpoint yet\n"))
        << run.errors;
    EXPECT_TRUE(sandbox.one("SELECT reason FROM run ORDER BY number DESC").ends_with(place(one.pass)));
  }
}

TEST_F(PluginInTrouble, ACrashOfTheCheckBeforeTheStartNamesThePlugin) {
  use("trouble", "how = \"null_pointer\"\npass = \"construction\"");
  const runner::ProgramOutput run = sandbox.exp({"run", "tiny.toml"});
  EXPECT_NE(run.end.exit_code, 0) << run.output;
  EXPECT_TRUE(contains(run.errors, "check ended with signal 11 (Segmentation fault) and no answer") &&
              contains(run.errors, "during construction of layer \"trouble\" of plugin " + file()))
      << run.errors;
}

TEST_F(PluginInTrouble, ReportsAnExceptionBeforeTheFirstStep) {
  use("trouble", "how = \"exception\"");
  const runner::ProgramOutput run = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(run.end.exit_code, 1) << run.output;
  EXPECT_TRUE(contains(run.errors, "tiny failed: forward of encoder.0.feed_forward: this layer throws\n"))
      << run.errors;
  const runner::ProgramOutput logs = sandbox.exp({"logs", "tiny"});
  EXPECT_TRUE(contains(
      logs.output, "failed before the first step: forward of encoder.0.feed_forward: this layer throws\n"))
      << logs.output;
  EXPECT_FALSE(contains(logs.output, "null")) << logs.output;
}

TEST_F(PluginInTrouble, AnOptionThatIsNotDeclaredIsNamedWithWhoAsksForIt) {
  use("undeclared_option", "distance = 3");
  const runner::ProgramOutput run = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(run.end.exit_code, 2) << run.output;
  EXPECT_TRUE(
      contains(run.errors,
               "encoder.0.feed_forward: layer \"undeclared_option\" asks for option \"distanze\", which "
               "its options() does not declare; did you mean \"distance\"?"))
      << run.errors;
}

TEST_F(PluginInTrouble, AStepThatNeverEndsIsNoticedAndCanBeKilled) {
  use("trouble", "how = \"wait\"\nfile = \"" + (sandbox.folder() / "gate").string() + "\"");
  const pid_t exp = sandbox.start({"run", "tiny.toml"});
  ASSERT_TRUE(sandbox.wait_until(started, "1")) << sandbox.read("output.txt");
  ASSERT_FALSE(nlohmann::json::parse(sandbox.exp({"status", "--json"}).output)[0].at("silence").is_null());
  // The worker writes nothing any more, so what is written here stays.
  sandbox.change("UPDATE attempt SET started = started - 100");
  const std::string kill = "exp stop tiny --kill kills its worker\n";
  const runner::ProgramOutput first = sandbox.exp({"status"});
  EXPECT_TRUE(contains(first.output, "tiny: no step yet, ") && contains(first.output, kill)) << first.output;
  sandbox.change(
      "UPDATE attempt SET progress = json_object('type', 'progress', 'step', 5, 'total_steps', 20, 'epoch', "
      "1, 'loss', 0.5, 'learning_rate', 0.001, "
      "'tokens_per_second', 4083, 'eta_seconds', 15, 'step_seconds', 0.02, 'time', unixepoch() - 40)");
  const runner::ProgramOutput status = sandbox.exp({"status"});
  EXPECT_TRUE(contains(status.output, "tiny: no step for ") &&
              contains(status.output, " s, usually 0.02 s; " + kill))
      << status.output;
  EXPECT_FALSE(contains(status.output, "4.08k")) << status.output;
  const nlohmann::json told =
      nlohmann::json::parse(sandbox.exp({"status", "--json"}).output)[0].at("silence");
  EXPECT_GE(told.at("seconds").get<double>(), 39.0);
  EXPECT_EQ(told.at("usual_step_seconds"), 0.02);
  EXPECT_EQ(told.at("noticeable"), true);

  const runner::ProgramOutput stop = sandbox.exp({"stop", "tiny"});
  EXPECT_TRUE(contains(stop.output, "tiny was asked to stop; it stops only after a step: no step for ") &&
              contains(stop.output, kill))
      << stop.output;
  const runner::ProgramOutput killed = sandbox.exp({"stop", "tiny", "--kill"});
  EXPECT_TRUE(contains(killed.output,
                       "tiny: its worker is killed now; with the same exp run command it starts again, "
                       "because it has no checkpoint yet\n"))
      << killed.output;
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end) << sandbox.read("output.txt");
  EXPECT_EQ(end->exit_code, 75) << sandbox.read("output.txt");
  EXPECT_TRUE(sandbox.workers().empty());
  EXPECT_EQ(sandbox.one("SELECT state FROM run"), "stopped");
  EXPECT_EQ(sandbox.one("SELECT reason FROM run"),
            "its worker was killed by exp stop --kill " + place("forward"));

  sandbox.write("gate", "");
  const runner::ProgramOutput again = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(again.end.exit_code, 0) << again.errors;
  EXPECT_TRUE(contains(again.output,
                       "tiny was interrupted before; it starts again, because it has no checkpoint yet\n"))
      << again.output;
}

TEST_F(PluginInTrouble, StopAllWithKillReachesEveryRun) {
  use("trouble", "how = \"wait\"\nfile = \"" + (sandbox.folder() / "gate").string() + "\"");
  sandbox.write("two.toml", "base = \"tiny.toml\"\nname = \"two\"\nseeds = [1, 2, 3]\n");
  const pid_t exp = sandbox.start({"run", "two.toml", "-j", "2"});
  ASSERT_TRUE(sandbox.wait_until(started, "2")) << sandbox.read("output.txt");
  EXPECT_EQ(sandbox.exp({"stop", "--all", "--kill"}).end.exit_code, 0);
  ASSERT_TRUE(Sandbox::wait(exp)) << sandbox.read("output.txt");
  EXPECT_EQ(sandbox.one("SELECT group_concat(state) FROM (SELECT state FROM run ORDER BY state)"),
            "pending,stopped,stopped");
}

TEST_F(PluginInTrouble, AStepTimeoutFailsTheRunAndNamesTheLayer) {
  use("trouble",
      "how = \"wait\"\npass = \"backward\"\nfile = \"" + (sandbox.folder() / "gate").string() + "\"");
  // On a busy machine a worker may not come to its first pass within the limit, so the limit grows.
  runner::ProgramOutput run;
  std::string limit, reason;
  for (const char* seconds : {"4", "32", "256"}) {
    run = sandbox.exp({"run", "tiny.toml", "--fresh", "--step-timeout", limit = seconds});
    reason = sandbox.one("SELECT reason FROM run ORDER BY number DESC LIMIT 1");
    if (contains(reason, place("backward"))) break;
  }
  EXPECT_EQ(run.end.exit_code, 1) << run.output << run.errors;
  EXPECT_EQ(sandbox.one("SELECT group_concat(DISTINCT state) FROM run"), "failed");
  EXPECT_EQ(reason,
            "no sign of its worker for " + limit + " s (--step-timeout); it was killed " + place("backward"));
  EXPECT_TRUE(contains(run.errors, "exp plugin check " + file() + "\n")) << run.errors;
  EXPECT_TRUE(sandbox.workers().empty());
  const runner::ProgramOutput refused = sandbox.exp({"run", "tiny.toml", "--step-timeout", "-1"});
  EXPECT_EQ(refused.end.exit_code, 2);
  EXPECT_TRUE(contains(refused.errors, "invalid --step-timeout -1: expected at least 0; 0 means no limit"))
      << refused.errors;
}

}  // namespace
}  // namespace encore::system_test
