// SPDX-License-Identifier: BSD-3-Clause
// Tests that a run resumes only with the plugin files with which it began, unless the change is accepted and
// recorded (app/plugin_changes.hpp). A complete run is kept, and the plan names the plugin file that trained
// it; both must stay. Words of messages may change.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "config/manifest.hpp"
#include "support/places.hpp"
#include "system/control/hold.hpp"

namespace encore::system_test {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> run = {"run", "mine.toml"};

/// A run of tiny.toml with a schedule from a plugin, interrupted at step 7 with a checkpoint of step 5.
class PluginChangeTest : public ::testing::Test {
 protected:
  PluginChangeTest() {
    config::Manifest manifest = config::load_manifest(built_in_plugins() / "constant_schedule.json");
    manifest.name = "mine";
    manifest.library = "mine.so";
    manifest.offers[0].name = "mine";
    sandbox_.write("plugins/mine.json", config::manifest_to_json(manifest).dump());
    fs::copy_file(built_in_plugins() / "constant_schedule.so", library());
    std::string text = "plugin_path = [\"plugins\"]\n" + tiny_experiment();
    text.replace(text.find("\"constant\""), 10, "\"mine\"");
    sandbox_.write("mine.toml", text);
    before_ = sha256_of_file(library());
  }

  fs::path library() const { return sandbox_.folder() / "plugins/mine.so"; }
  /// Changes the file as a new build does: other bytes under the same name.
  void rebuild() {
    std::ofstream(library(), std::ios::app) << "built again";
    after_ = sha256_of_file(library());
  }
  void interrupt() {
    sandbox_.set("FAKE_CRASH_AT", "7");
    sandbox_.exp(run);
    sandbox_.set("FAKE_CRASH_AT", "-1");
    ASSERT_EQ(sandbox_.one("SELECT max(step) FROM checkpoint"), "5");
  }
  std::string old_hash() const { return before_.substr(0, 12); }
  std::string new_hash() const { return after_.substr(0, 12); }
  std::string change() const {
    return "plugin \"mine\" was 1.0.0 (" + old_hash() + ") and is now 1.0.0 (" + new_hash() + "), " +
           fs::canonical(library()).string();
  }

  Sandbox sandbox_;
  std::string before_, after_;
};

TEST_F(PluginChangeTest, TheSameFileResumesWithoutAMessage) {
  interrupt();
  const runner::ProgramOutput output = sandbox_.exp(run);
  EXPECT_EQ(output.end.exit_code, 0) << output.errors;
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM event WHERE type = 'plugin_change'"), "0");
}

TEST_F(PluginChangeTest, AChangedFileIsRefusedBeforeAnythingStarts) {
  interrupt();
  rebuild();
  const runner::ProgramOutput output = sandbox_.exp(run);
  EXPECT_EQ(output.end.exit_code, 2);
  const std::string id = sandbox_.one("SELECT id FROM run");
  EXPECT_EQ(output.errors,
            "exp: run tiny (" + id + ") cannot be resumed: " + change() +
                "\nTo resume with the changed plugin and record the change, pass --accept-plugin-change. To "
                "train again as a new repeat, pass --fresh. Otherwise restore the old file.\n");
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM attempt"), "1");
  const runner::ProgramOutput plan = sandbox_.exp({"plan", "mine.toml"});
  EXPECT_EQ(plan.end.exit_code, 0) << plan.errors;
  EXPECT_TRUE(contains(plan.output, "tiny resumes only with --accept-plugin-change: " + change()))
      << plan.output;
}

TEST_F(PluginChangeTest, AnAcceptedChangeIsAnEvent) {
  interrupt();
  rebuild();
  const runner::ProgramOutput output = sandbox_.exp({"run", "mine.toml", "--accept-plugin-change"});
  ASSERT_EQ(output.end.exit_code, 0) << output.errors;
  EXPECT_EQ(sandbox_.one("SELECT state FROM run"), "completed");
  const nlohmann::json event = nlohmann::json::parse(
      sandbox_.one("SELECT body FROM event JOIN attempt ON attempt.number = attempt WHERE type = "
                   "'plugin_change' AND ordinal = 2"));
  ASSERT_EQ(event.at("plugins").size(), 1u);
  EXPECT_EQ(event.at("plugins")[0].at("name"), "mine");
  EXPECT_EQ(event.at("plugins")[0].at("old_sha256"), before_);
  EXPECT_EQ(event.at("plugins")[0].at("new_sha256"), after_);
  EXPECT_EQ(
      sandbox_.one("SELECT group_concat(attempt.ordinal || ' ' || sha256) FROM attempt_plugin JOIN attempt "
                   "ON attempt.number = attempt JOIN plugin ON plugin.number = plugin WHERE name = 'mine'"),
      "1 " + before_ + ",2 " + after_);
}

TEST_F(PluginChangeTest, AnAcceptedChangeIsTheNewBasis) {
  interrupt();
  rebuild();
  Hold hold(sandbox_, 12);
  const pid_t exp = sandbox_.start({"run", "mine.toml", "--accept-plugin-change"});
  ASSERT_EQ(hold.wait_for(1).size(), 1u) << sandbox_.read("output.txt");
  ::kill(exp, SIGINT);
  ASSERT_TRUE(Sandbox::wait(exp));
  hold.release();
  EXPECT_EQ(sandbox_.exp(run).end.exit_code, 0) << "attempt 2 used the file that is there";
}

TEST_F(PluginChangeTest, FreshTrainsAgainAsANewRepeat) {
  interrupt();
  rebuild();
  const runner::ProgramOutput output = sandbox_.exp({"run", "mine.toml", "--fresh"});
  ASSERT_EQ(output.end.exit_code, 0) << output.errors;
  EXPECT_EQ(sandbox_.query("SELECT repeat || ' ' || state FROM run ORDER BY number"),
            (std::vector<std::string>{"1 lost", "2 completed"}));
}

TEST_F(PluginChangeTest, WithoutACheckpointThereIsNothingToMix) {
  sandbox_.set("FAKE_FAIL_AT", "3");
  EXPECT_EQ(sandbox_.exp(run).end.exit_code, 1);
  sandbox_.set("FAKE_FAIL_AT", "-1");
  rebuild();
  EXPECT_EQ(sandbox_.exp(run).end.exit_code, 0) << "a repaired plugin trains from the start";
}

TEST_F(PluginChangeTest, APluginThatNoLongerOffersTheTypeIsNamed) {
  interrupt();
  config::Manifest manifest = config::load_manifest(sandbox_.folder() / "plugins/mine.json");
  manifest.name = "other";
  sandbox_.write("plugins/mine.json", config::manifest_to_json(manifest).dump());
  const runner::ProgramOutput output = sandbox_.exp(run);
  EXPECT_EQ(output.end.exit_code, 2);
  EXPECT_TRUE(contains(
      output.errors, "plugin \"mine\" was 1.0.0 (" + old_hash() + ") and no longer offers what the run uses"))
      << output.errors;
}

TEST_F(PluginChangeTest, ACompleteRunIsKeptAndThePlanSaysSo) {
  ASSERT_EQ(sandbox_.exp(run).end.exit_code, 0);
  EXPECT_FALSE(contains(sandbox_.exp({"plan", "mine.toml"}).output, "kept"));
  rebuild();
  const std::string kept = "tiny is kept, though " + change() + " (--fresh trains again)";
  const runner::ProgramOutput plan = sandbox_.exp({"plan", "mine.toml"});
  EXPECT_TRUE(contains(plan.output, kept)) << plan.output;
  const runner::ProgramOutput again = sandbox_.exp(run);
  EXPECT_EQ(again.end.exit_code, 0);
  EXPECT_TRUE(contains(again.output, kept) && contains(again.output, "nothing to do")) << again.output;
  const nlohmann::json json = nlohmann::json::parse(sandbox_.exp({"plan", "mine.toml", "--json"}).output);
  EXPECT_EQ(json.at("runs")[0].at("changed_plugins")[0].at("new_sha256"), after_);
}

TEST_F(PluginChangeTest, ACompleteRunOfAnotherBuildIsKeptAndThePlanSaysSo) {
  sandbox_.set("FAKE_FINGERPRINT", "compiler=GNU 3.1");
  ASSERT_EQ(sandbox_.exp(run).end.exit_code, 0);
  const std::string text = sandbox_.exp({"plan", "mine.toml"}).output;
  EXPECT_TRUE(contains(text, "tiny is kept, though another build trained it: ")) << text;
  EXPECT_TRUE(contains(text, "compiler is GNU 3.1 in its build and ")) << text;
}

// --- --changed ---

TEST_F(PluginChangeTest, ChangedRetrainsOnlyRunsOfAnotherPluginFile) {
  ASSERT_EQ(sandbox_.exp(run).end.exit_code, 0);
  const std::vector<std::string> changed = {"run", "mine.toml", "--seeds", "1-2", "--changed"};
  const runner::ProgramOutput nothing = sandbox_.exp(changed);
  EXPECT_EQ(nothing.end.exit_code, 0) << nothing.errors;
  EXPECT_EQ(nothing.output,
            "nothing to do: no run of mine.toml was trained with a plugin file that has changed\n");
  rebuild();
  const runner::ProgramOutput plan = sandbox_.exp({"plan", "mine.toml", "--seeds", "1-2", "--changed"});
  EXPECT_TRUE(contains(plan.output, "changed plugin file: a new repeat in addition to ")) << plan.output;
  EXPECT_TRUE(contains(plan.output, "new, but --changed trains only known runs")) << plan.output;
  EXPECT_TRUE(contains(plan.output, "1 of 2 runs to do")) << plan.output;
  const runner::ProgramOutput again = sandbox_.exp(changed);
  EXPECT_EQ(again.end.exit_code, 0) << again.errors;
  EXPECT_TRUE(contains(again.output, "1 of 2 runs to do, whose plugin files have changed")) << again.output;
  EXPECT_EQ(sandbox_.query("SELECT seed || ' ' || repeat || ' ' || state FROM run ORDER BY number"),
            (std::vector<std::string>{"1 1 completed", "1 2 completed"}));
  EXPECT_TRUE(contains(sandbox_.exp(changed).output, "nothing to do")) << "the newest repeat counts";
}

TEST_F(PluginChangeTest, ChangedFinishesWhatItBegan) {
  ASSERT_EQ(sandbox_.exp(run).end.exit_code, 0);
  rebuild();
  sandbox_.set("FAKE_CRASH_AT", "7");
  sandbox_.exp({"run", "mine.toml", "--changed"});
  sandbox_.set("FAKE_CRASH_AT", "-1");
  ASSERT_EQ(sandbox_.one("SELECT state FROM run WHERE repeat = 2"), "lost");
  EXPECT_EQ(sandbox_.exp({"run", "mine.toml", "--changed"}).end.exit_code, 0);
  EXPECT_EQ(sandbox_.query("SELECT repeat || ' ' || state FROM run ORDER BY number"),
            (std::vector<std::string>{"1 completed", "2 completed"}));
}

TEST_F(PluginChangeTest, ChangedWithoutADatabaseHasNothingToDo) {
  const runner::ProgramOutput output = sandbox_.exp({"run", "mine.toml", "--changed"});
  EXPECT_EQ(output.end.exit_code, 0);
  EXPECT_TRUE(contains(output.output, "nothing to do: no run of mine.toml")) << output.output;
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "encore.db"));
}

TEST_F(PluginChangeTest, ChangedIsRefusedWithWhatSaysOtherwise) {
  const auto errors = [&](const std::string& verb, const std::string& option) {
    return sandbox_.exp({verb, "mine.toml", "--changed", option}).errors;
  };
  EXPECT_TRUE(contains(errors("run", "--fresh"), "--fresh and --changed exclude each other"));
  EXPECT_TRUE(contains(errors("run", "--accept-plugin-change"),
                       "--changed and --accept-plugin-change exclude each other"));
  EXPECT_TRUE(contains(errors("retry", "--failed"), "--changed is an option of exp run"));
}

// --- plugins that never passed their checks ---

TEST_F(PluginChangeTest, APluginThatNeverPassedItsChecksIsWarnedOf) {
  const std::string warning = "warning: plugin \"mine\" (" + old_hash() +
                              ") has not passed its checks on this machine; run exp plugin check " +
                              fs::canonical(library()).string() + "\n";
  const runner::ProgramOutput plan = sandbox_.exp({"plan", "mine.toml"});
  EXPECT_TRUE(contains(plan.output, warning)) << plan.output;
  const nlohmann::json json = nlohmann::json::parse(sandbox_.exp({"plan", "mine.toml", "--json"}).output);
  EXPECT_EQ(json.at("unchecked_plugins").at(0).at("sha256"), before_);
  const runner::ProgramOutput output = sandbox_.exp(run);
  EXPECT_EQ(output.end.exit_code, 0);
  EXPECT_EQ(output.errors, warning) << "of this plugin alone: the others ship with Encore";
  EXPECT_EQ(sandbox_.exp(run).errors, "") << "with nothing to do there is nothing to warn of";
}

TEST_F(PluginChangeTest, ACheckedFileIsNotWarnedOfUntilItChanges) {
  sandbox_.write("cache/plugin_checks/" + before_ + ".json", "{}");
  EXPECT_FALSE(contains(sandbox_.exp({"plan", "mine.toml"}).output, "warning"));
  rebuild();
  EXPECT_TRUE(contains(sandbox_.exp({"plan", "mine.toml"}).output,
                       "plugin \"mine\" (" + new_hash() + ") has not passed its checks on this machine"));
}

TEST_F(PluginChangeTest, ShowListsThePlugins) {
  ASSERT_EQ(sandbox_.exp(run).end.exit_code, 0);
  const std::string text = sandbox_.exp({"show", "tiny"}).output;
  EXPECT_TRUE(contains(text, "plugins (attempt 1)")) << text;
  EXPECT_TRUE(contains(text, old_hash()) && contains(text, "feed_forward")) << text;
  const nlohmann::json json = nlohmann::json::parse(sandbox_.exp({"show", "tiny", "--json"}).output);
  EXPECT_EQ(json.at("attempts")[0].at("plugins").size(), 9u);
}

}  // namespace
}  // namespace encore::system_test
