// SPDX-License-Identifier: BSD-3-Clause
// Tests that a stored run loads no code that its user has not chosen (app/run_plugins.hpp):
// specification.json in a run folder may come from another person. SECURITY.md promises this.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "config/manifest.hpp"
#include "support/places.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

namespace fs = std::filesystem;

/// A run of mine.toml, which takes its schedule from the folder plugins, its plugin_path.
class PluginTrustTest : public ::testing::Test {
 protected:
  PluginTrustTest() {
    make_plugin("plugins", "mine");
    std::string text = "plugin_path = [\"plugins\"]\n" + tiny_experiment();
    text.replace(text.find("\"constant\""), 10, "\"mine\"");
    sandbox_.write("mine.toml", text);
  }

  void make_plugin(const std::string& folder, const std::string& type) {
    config::Manifest manifest = config::load_manifest(built_in_plugins() / "constant_schedule.json");
    manifest.name = type;
    manifest.library = type + ".so";
    manifest.offers[0].name = type;
    sandbox_.write(folder + "/" + type + ".json", config::manifest_to_json(manifest).dump());
    fs::copy_file(built_in_plugins() / "constant_schedule.so", sandbox_.folder() / folder / (type + ".so"));
  }
  void train() { ASSERT_EQ(sandbox_.exp({"run", "mine.toml"}).end.exit_code, 0); }
  fs::path specification() const {
    return "encore.db.runs/" + sandbox_.one("SELECT id FROM run") + "/specification.json";
  }
  /// Changes the run folder as an attacker would.
  void plant(const std::string& folder) {
    nlohmann::json json = nlohmann::json::parse(sandbox_.read(specification()));
    json["plugin_folders"][0] = (fs::canonical(sandbox_.folder()) / folder).string();
    sandbox_.write(specification(), json.dump());
  }
  /// Removes the record of used plugins, as in the home of another user.
  void forget() { fs::remove_all(sandbox_.folder() / "state"); }
  std::string path(const std::string& name) const {
    return (fs::canonical(sandbox_.folder()) / name).string();
  }
  std::string short_hash(const std::string& name) const { return sha256_of_file(path(name)).substr(0, 12); }
  std::string refusal(const std::string& folder, const std::string& change = "") const {
    return "exp: run tiny needs to load code that you have not used before:\n  plugin \"mine\" 1.0.0 (" +
           short_hash(folder + "/mine.so") + "), " + path(folder) + "/mine.so" + change +
           "\nThe run's specification.json names it. A plugin is code and runs with your permissions. To "
           "allow it: --plugin-path " +
           path(folder) + "\n";
  }

  Sandbox sandbox_;
};

TEST_F(PluginTrustTest, TheUserWhoTrainedTheRunIsNotAsked) {
  train();
  EXPECT_EQ(sandbox_.exp({"predict", "tiny", "Anna"}).output, "text: Anna\n");
  EXPECT_EQ(sandbox_.exp({"evaluate", "tiny", "test.conll"}).end.exit_code, 0);
  EXPECT_EQ(sandbox_.exp({"verify", "tiny"}).end.exit_code, 0);
  EXPECT_EQ(sandbox_.read("state/encore/trusted_plugins"),
            sha256_of_file(path("plugins/mine.so")) + "  " + path("plugins/mine.so") + "\n");
}

TEST_F(PluginTrustTest, APlantedFolderIsRefusedByEveryVerbThatWouldLoadIt) {
  train();
  make_plugin("evil", "mine");
  std::ofstream(path("evil/mine.so"), std::ios::app) << "evil";
  plant("evil");
  const std::string change =
      "; the run was trained with another file, 1.0.0 (" + short_hash("plugins/mine.so") + ")";
  for (const std::vector<std::string>& command : {std::vector<std::string>{"predict", "tiny", "Anna"},
                                                  {"evaluate", "tiny", "test.conll"},
                                                  {"verify", "tiny"}}) {
    const runner::ProgramOutput output = sandbox_.exp(command);
    EXPECT_EQ(output.end.exit_code, 2) << command.front();
    EXPECT_EQ(output.errors, refusal("evil", change)) << command.front();
    EXPECT_EQ(output.output, "") << command.front();
  }
  sandbox_.change("UPDATE run SET state = 'failed'");
  EXPECT_EQ(sandbox_.exp({"retry", "tiny", "--failed"}).errors, refusal("evil", change));
}

TEST_F(PluginTrustTest, ACopyOfATrustedPluginElsewhereIsAnotherPlugin) {
  train();
  make_plugin("evil", "mine");  // its loader may find files beside it
  plant("evil");
  EXPECT_EQ(sandbox_.exp({"predict", "tiny", "Anna"}).errors, refusal("evil"));
}

TEST_F(PluginTrustTest, APluginThatHasChangedIsAskedForAgain) {
  train();
  const std::string before = short_hash("plugins/mine.so");
  std::ofstream(path("plugins/mine.so"), std::ios::app) << "built again";
  EXPECT_EQ(sandbox_.exp({"predict", "tiny", "Anna"}).errors,
            refusal("plugins", "; the run was trained with another file, 1.0.0 (" + before + ")"));
  const runner::ProgramOutput allowed = sandbox_.exp({"predict", "tiny", "Anna", "--plugin-path", "plugins"});
  EXPECT_EQ(allowed.output, "text: Anna\n");
  EXPECT_EQ(allowed.errors, "exp: plugin \"mine\" is 1.0.0 (" + short_hash("plugins/mine.so") + "), " +
                                path("plugins/mine.so") + "; the run was trained with another file, 1.0.0 (" +
                                before + ")\n");
}

TEST_F(PluginTrustTest, ARunOfAnotherUserWorksAfterConfirmation) {
  train();
  forget();
  EXPECT_EQ(sandbox_.exp({"predict", "tiny", "Anna"}).errors, refusal("plugins"));
  EXPECT_EQ(sandbox_.exp({"predict", "tiny", "Anna", "--plugin-path", "plugins"}).output, "text: Anna\n");
  EXPECT_EQ(sandbox_.exp({"predict", "tiny", "Anna", "--plugin-path", "./plugins/"}).output, "text: Anna\n");
  EXPECT_EQ(sandbox_.exp({"predict", "tiny", "Anna"}).end.exit_code, 2) << "an option is for one call";
  sandbox_.set("ENCORE_PLUGIN_PATH", path("plugins"));
  EXPECT_EQ(sandbox_.exp({"predict", "tiny", "Anna"}).output, "text: Anna\n");
  sandbox_.set("ENCORE_PLUGIN_PATH", "");
  EXPECT_EQ(sandbox_.exp({"run", "mine.toml"}).end.exit_code, 0)
      << "the user who runs the file has chosen its plugins";
  EXPECT_EQ(sandbox_.exp({"predict", "tiny", "Anna"}).output, "text: Anna\n");
}

TEST_F(PluginTrustTest, PluginPathReplacesTheFoldersOfTheSpecification) {
  train();
  fs::rename(path("plugins"), path("moved"));
  EXPECT_EQ(sandbox_.exp({"predict", "tiny", "Anna", "--plugin-path", "moved"}).output, "text: Anna\n");
  make_plugin("evil", "mine");
  plant("evil");
  EXPECT_EQ(sandbox_.exp({"predict", "tiny", "Anna", "--plugin-path", "moved"}).output, "text: Anna\n")
      << "evil/ is not searched";
}

TEST_F(PluginTrustTest, ATerminalIsAskedAndTheAnswerIsRemembered) {
  train();
  forget();
  const auto answer = [&](const std::string& word) {
    return sandbox_
        .shell("echo " + word + " | script -qec '" ENCORE_BUILD_DIR "/bin/exp predict tiny Anna' /dev/null")
        .output;
  };
  const std::string no = answer("n");
  EXPECT_NE(no.find("Load it, now and later? [y/N] "), std::string::npos) << no;
  EXPECT_NE(no.find("exp: nothing was loaded"), std::string::npos) << no;
  const std::string yes = answer("y");
  EXPECT_NE(yes.find("text: Anna"), std::string::npos) << yes;
  EXPECT_EQ(sandbox_.exp({"predict", "tiny", "Anna"}).output, "text: Anna\n");
}

TEST_F(PluginTrustTest, AReadOnlyHomeDoesNotPreventTraining) {
  sandbox_.set("XDG_STATE_HOME", "/proc/nowhere");
  train();
  EXPECT_EQ(sandbox_.exp({"predict", "tiny", "Anna"}).errors, refusal("plugins"));
}

TEST_F(PluginTrustTest, ShippedPluginsNeedNoConfirmation) {
  ASSERT_EQ(sandbox_.exp({"run", "tiny.toml"}).end.exit_code, 0);
  EXPECT_EQ(sandbox_.exp({"predict", "tiny", "Anna"}).output, "text: Anna\n");
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "state"));
}

}  // namespace
}  // namespace encore::system_test
