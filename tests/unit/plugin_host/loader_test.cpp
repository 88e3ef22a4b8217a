// SPDX-License-Identifier: BSD-3-Clause
// Tests open_plugin() (plugin_host/loader.hpp), which opens one plugin file, and encore-manifest, which
// writes a manifest with it: good files, and the message for each kind of broken one. registry_test.cpp tests
// folders of plugins. The words of a message may change; a broken plugin must never be loaded. Read next:
// samples.hpp.
#include "plugin_host/loader.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include <nlohmann/json.hpp>

#include "config/fingerprint.hpp"
#include "samples.hpp"
#include "support/places.hpp"

namespace encore::plugin_host {
namespace {

using testing::message_of;
using testing::sample;
using testing::TemporaryFolder;

TEST(Loader, OpensAPluginAndCollectsItsOffers) {
  const OpenedPlugin plugin = open_plugin(sample("good"));
  EXPECT_EQ(plugin.name, "sample");
  EXPECT_EQ(plugin.version, "1.2.3");
  EXPECT_EQ(plugin.fingerprint, config::host_fingerprint());
  ASSERT_EQ(plugin.offers.offers().size(), 1u);
  EXPECT_EQ(plugin.offers.offers()[0].name, "half");
  EXPECT_EQ(plugin.offers.offers()[0].version, 3);
}

TEST(Loader, OpeningTwiceIsFine) {
  open_plugin(sample("good"));
  EXPECT_EQ(open_plugin(sample("good")).offers.offers().size(), 1u);
}

TEST(Loader, AMissingFileIsNamed) {
  EXPECT_NE(message_of([] { open_plugin("/nowhere/p.so"); }).find("/nowhere/p.so: cannot be loaded: "),
            std::string::npos);
}

TEST(Loader, ALibraryWithoutTagIsNotAPlugin) {
  const std::string message = message_of([] { open_plugin(sample("empty")); });
  EXPECT_NE(message.find("empty.so: not an Encore plugin"), std::string::npos) << message;
  EXPECT_NE(message.find("ENCORE_PLUGIN"), std::string::npos);
}

TEST(Loader, AnotherBuildIsRefusedWithTheDifferenceAndTheCure) {
  const std::string message = message_of([] { open_plugin(sample("other_fingerprint")); });
  EXPECT_NE(message.find("plugin \"sample\" was built for another Encore: "), std::string::npos) << message;
  EXPECT_NE(message.find("compiler is GNU 3.1 in the plugin and "), std::string::npos) << message;
  EXPECT_NE(message.find("color is blue in the plugin and (none) here"), std::string::npos) << message;
  EXPECT_NE(message.find("; rebuild it: "), std::string::npos) << message;
  EXPECT_EQ(message.find("sdk is"), std::string::npos) << "the sdk is equal: " << message;
}

TEST(Loader, AFailingRegistrationReportsItsReason) {
  const std::string message = message_of([] { open_plugin(sample("failing")); });
  EXPECT_NE(message.find("plugin \"sample\" cannot register: the moon is full"), std::string::npos)
      << message;
}

TEST(Loader, APluginThatRegistersNothingIsRefused) {
  EXPECT_EQ(
      message_of([] { open_plugin(sample("idle")); }),
      sample("idle").string() +
          ": plugin \"sample\" registers nothing; call plugin.add<Kind, Type>(name) in its ENCORE_PLUGIN "
          "block");
}

TEST(Loader, AFileThatIsNotALibraryIsRejected) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "text.so";
  std::ofstream(file) << "no library";
  const std::string message = message_of([&] { open_plugin(file); });
  EXPECT_EQ(message.find(file.string() + ": cannot be loaded: "), 0u) << message;
}

int run_tool(const std::string& arguments) {
  return std::system(
      (std::string(ENCORE_BUILD_DIR) + "/bin/encore-manifest " + arguments + " 2> /dev/null").c_str());
}

TEST(ManifestTool, WritesWhatThePluginOffers) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "good.json";
  ASSERT_EQ(run_tool(sample("good").string() + " " + file.string()), 0);
  const config::Manifest manifest = config::load_manifest(file);
  EXPECT_EQ(manifest.name, "sample");
  EXPECT_EQ(manifest.library, "good.so");
  ASSERT_EQ(manifest.offers.size(), 1u);
  EXPECT_EQ(manifest.offers[0].kind, Kind::schedule);
  EXPECT_EQ(manifest.offers[0].version, 3);
  ASSERT_NE(manifest.offers[0].options.find("factor"), nullptr);
  EXPECT_FALSE(std::filesystem::exists(file.string() + ".new"));
}

/// Plugins for a processor that the building machine lacks get the manifest of a build for another one.
TEST(ManifestTool, CopiesAManifestForAPluginThatItCannotLoad) {
  const TemporaryFolder folder;
  const auto manifest_of = [&](const std::string& name, std::string fingerprint) {
    config::Manifest manifest{"sample", "1.2.3", std::move(fingerprint), name, {}};
    manifest.offers.push_back({.kind = Kind::schedule, .name = "half", .version = 3});
    const std::filesystem::path file = folder.path() / ("other_" + name + ".json");
    std::ofstream(file) << config::manifest_to_json(manifest).dump();
    return file.string();
  };
  const auto copied = [&](const std::string& like, const std::filesystem::path& plugin) {
    return run_tool("--like " + like + " " + plugin.string() + " " + (folder.path() / "new.json").string());
  };
  // This plugin cannot be registered, so only a tool that does not load it succeeds.
  const std::string of_failing = manifest_of("failing.so", "of another processor");
  ASSERT_EQ(copied(of_failing, sample("failing")), 0);
  const config::Manifest made = config::load_manifest(folder.path() / "new.json");
  EXPECT_EQ(made.fingerprint, config::host_fingerprint());
  EXPECT_EQ(made.offers.at(0).version, 3);
  std::filesystem::remove(folder.path() / "new.json");
  EXPECT_NE(copied(of_failing, sample("good")), 0) << "the manifest is of another plugin";
  EXPECT_NE(copied(manifest_of("other_fingerprint.so", "x"), sample("other_fingerprint")), 0)
      << "another build made the plugin";
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "new.json"));
}

TEST(ManifestTool, FailsWithoutLeavingAFile) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "bad.json";
  EXPECT_NE(run_tool(sample("failing").string() + " " + file.string()), 0);
  EXPECT_NE(run_tool("only_one_argument"), 0);
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace encore::plugin_host
