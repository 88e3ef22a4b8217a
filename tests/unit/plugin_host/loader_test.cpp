// SPDX-License-Identifier: BSD-3-Clause
// Tests open_plugin() (plugin_host/loader.hpp), which opens one plugin file, and encore-manifest, which
// writes a manifest with it: good files, and the message for each kind of broken one. registry_test.cpp tests
// folders of plugins. The words of a message may change; a broken plugin must never be loaded. Read next:
// samples.hpp.
#include "plugin_host/loader.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

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

TEST(ManifestTool, FailsWithoutLeavingAFile) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "bad.json";
  EXPECT_NE(run_tool(sample("failing").string() + " " + file.string()), 0);
  EXPECT_NE(run_tool("only_one_argument"), 0);
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace encore::plugin_host
