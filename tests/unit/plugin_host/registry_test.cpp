// SPDX-License-Identifier: BSD-3-Clause
// Tests Registry (plugin_host/registry.hpp) over folders of plugins: what it loads, what it offers and
// builds, and what it refuses. A plugin of another build must be refused by its manifest before its library
// is opened, because opening it could crash. Read next: samples.hpp.
#include "plugin_host/registry.hpp"

#include <gtest/gtest.h>

#include <encore/plugin.hpp>

#include "plugin_host/loader.hpp"
#include "samples.hpp"

namespace encore::plugin_host {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

const std::vector<config::TypeName> half{{Kind::schedule, "half"}};

TEST(Registry, LoadsWhatIsNeededAndBuildsIt) {
  const TemporaryFolder folder;
  folder.add("a");
  Registry registry;
  registry.load(config::Catalogue::load({folder.path()}), half);
  Options options;
  options.set("factor", 0.25);
  EXPECT_EQ(registry.make_schedule("half", options, {})->factor(1), 0.25);
  ASSERT_EQ(registry.plugins().size(), 1u);
  EXPECT_EQ(registry.plugins()[0].name, "sample");
  EXPECT_EQ(registry.plugins()[0].version, "1.2.3");
  EXPECT_EQ(registry.plugins()[0].sha256.size(), 64u);
  EXPECT_EQ(registry.plugins()[0].file, folder.path() / "a.so");
}

TEST(Registry, PluginsThatAreNotNeededStayOnDisk) {
  const TemporaryFolder folder;
  folder.add("a", [](config::Manifest& manifest) { manifest.fingerprint = "sdk=0"; });
  Registry registry;
  registry.load(config::Catalogue::load({folder.path()}), {});
  EXPECT_TRUE(registry.plugins().empty());
  EXPECT_TRUE(registry.failures().empty());
}

TEST(Registry, LoadingTwiceLoadsOnce) {
  const TemporaryFolder folder;
  folder.add("a");
  const config::Catalogue catalogue = config::Catalogue::load({folder.path()});
  Registry registry;
  registry.load(catalogue, half);
  registry.load(catalogue, half);
  registry.load_all(catalogue);
  EXPECT_EQ(registry.plugins().size(), 1u);
}

TEST(Registry, AnotherBuildIsRefusedBeforeItsLibraryIsOpened) {
  const TemporaryFolder folder;
  folder.add("a", [](config::Manifest& manifest) { manifest.fingerprint = "sdk=0"; });
  // The library itself belongs to another build: the manifest must have reported that first.
  std::filesystem::copy_file(testing::sample("other_fingerprint"), folder.path() / "a.so",
                             std::filesystem::copy_options::overwrite_existing);
  Registry registry;
  const std::string message =
      message_of([&] { registry.load(config::Catalogue::load({folder.path()}), half); });
  EXPECT_NE(message.find("sdk is 0 in the plugin and " + std::to_string(ENCORE_SDK_VERSION) + " here"),
            std::string::npos)
      << message;
  EXPECT_EQ(message.find("GNU 3.1"), std::string::npos) << message;
  ASSERT_EQ(registry.failures().size(), 1u);
  EXPECT_EQ(registry.failures()[0].reason, message);
  EXPECT_FALSE(registry.offers(Kind::schedule, "half"));
}

/// Returns the message about the good plugin under a manifest that `change` made wrong.
std::string lie(const auto& change) {
  const TemporaryFolder folder;
  folder.add("a", change);
  Registry registry;
  const std::string message =
      message_of([&] { registry.load(config::Catalogue::load({folder.path()}), half); });
  EXPECT_EQ(message.find((folder.path() / "a.json").string() + ": does not describe a.so: "), 0u) << message;
  EXPECT_NE(
      message.find(
          "; run \"exp plugin build\" for its folder again, or write the manifest alone: encore-manifest " +
          (folder.path() / "a.so").string()),
      std::string::npos)
      << message;
  EXPECT_FALSE(registry.offers(Kind::schedule, "half"))
      << "nothing of a plugin with a wrong manifest is used";
  return message;
}

TEST(Registry, AManifestThatLiesIsRefused) {
  EXPECT_NE(lie([](config::Manifest& manifest) {
              manifest.offers[0].version = 2;
            }).find("schedule \"half\" is version 2 in the manifest and version 3 in it"),
            std::string::npos);
  EXPECT_NE(lie([](config::Manifest& manifest) {
              manifest.version = "9.9";
            }).find("its version is 9.9 in the manifest and 1.2.3 in it"),
            std::string::npos);
  EXPECT_NE(lie([](config::Manifest& manifest) {
              manifest.offers.push_back({Kind::layer, "gold", 1, Schema()});
            }).find("layer \"gold\" is version 1 in the manifest and absent in it"),
            std::string::npos);
  const std::string other_default = lie([](config::Manifest& manifest) {
    manifest.offers[0].options = Schema().number("factor", 0.25, {.help = "what the rate is multiplied by"});
  });
  EXPECT_NE(other_default.find("option \"factor\" of schedule \"half\" is {\"default\":0.25,"),
            std::string::npos)
      << "as many options, but not the same: " << other_default;
  EXPECT_NE(other_default.find("and {\"default\":0.5,"), std::string::npos) << other_default;
}

TEST(Registry, LoadAllRemembersFailuresAndContinues) {
  const TemporaryFolder folder;
  folder.add("a");
  folder.add("b", [](config::Manifest& manifest) {
    manifest.offers[0].name = "other";
    manifest.fingerprint = "sdk=0";
  });
  Registry registry;
  registry.load_all(config::Catalogue::load({folder.path()}));
  EXPECT_TRUE(registry.offers(Kind::schedule, "half"));
  ASSERT_EQ(registry.failures().size(), 1u);
  EXPECT_EQ(registry.failures()[0].file, folder.path() / "b.so");
}

TEST(Registry, ASecondOwnerIsRefusedAndNothingIsCommitted) {
  Registrar offers = open_plugin(testing::sample("good")).offers;
  const TemporaryFolder folder;
  folder.add("a");
  Registry registry;
  registry.add("this test", offers);
  const std::string message =
      message_of([&] { registry.load_all(config::Catalogue::load({folder.path()})); });
  EXPECT_NE(message.find("the schedule \"half\" is offered by both this test and " +
                         (folder.path() / "a.so").string()),
            std::string::npos)
      << message;
  EXPECT_TRUE(registry.plugins().empty());
  EXPECT_EQ(registry.all(Kind::schedule).size(), 1u);
}

/// A reader in which every line is a text.
class Lines final : public Reader {
 public:
  static Schema options() { return Schema().text("end", "\n", {.help = "of a line"}); }
  static std::vector<std::string> fields() { return {"text"}; }
  Lines(const Options& options, const ReaderContext&) : end_(options.text("end")) {}
  Records read(std::span<const InputText> files, const std::string&) const override {
    Records records;
    records.add("text", Records::Texts{std::string(files[0].text) + end_});
    return records;
  }

 private:
  std::string end_;
};

TEST(Registry, BuildsReadersAndAddsTheirFieldsToTheOffer) {
  Registrar offers;
  offers.add<Kind::reader, Lines>("lines");
  EXPECT_EQ(describe(offers.offers().front()).gives, std::vector<std::string>{"text"});
  Registry registry;
  registry.add("this test", offers);
  Options options;
  options.set("end", std::string("!"));
  const InputText file{"a.txt", "one"};
  EXPECT_EQ(registry.make_reader("lines", options)->read({&file, 1}, "set").texts("text").front(), "one!");
  EXPECT_NE(
      message_of([&] { registry.make_task("lines", options, {}); }).find("no loaded plugin offers a task"),
      std::string::npos);
}

TEST(Registry, AnUnknownTypeSuggestsTheNearest) {
  const TemporaryFolder folder;
  folder.add("a");
  Registry registry;
  const config::Catalogue catalogue = config::Catalogue::load({folder.path()});
  const std::vector<config::TypeName> mistyped{{Kind::schedule, "hafl"}};
  EXPECT_NE(message_of([&] { registry.load(catalogue, mistyped); }).find("did you mean \"half\"?"),
            std::string::npos);
  registry.load(catalogue, half);
  EXPECT_NE(message_of([&] { registry.offer(Kind::schedule, "hafl"); }).find("did you mean \"half\"?"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              registry.offer(Kind::layer, "half");
            }).find("no loaded plugin offers a layer \"half\""),
            std::string::npos);
}

TEST(Registry, TwoCopiesOfOneTemplateKeepTheirOwnSymbols) {
  const TemporaryFolder folder;
  folder.add("twin_a", "twin_a", [](config::Manifest&) {});
  folder.add("twin_b", "twin_b", [](config::Manifest&) {});
  Registry registry;
  registry.load_all(config::Catalogue::load({folder.path()}));
  ASSERT_TRUE(registry.failures().empty()) << registry.failures()[0].reason;
  ASSERT_EQ(registry.plugins().size(), 2u);
  // The same namespace, class, function, variables and a static counter within a function in both files.
  const auto a = registry.make_schedule("twin_a", {}, {}), b = registry.make_schedule("twin_b", {}, {});
  for (int call = 1; call <= 3; ++call) {
    EXPECT_EQ(a->factor(1), 10.0 + call);
    EXPECT_EQ(b->factor(1), 20.0 + call);
  }
}

TEST(Registry, FailedRegistrationsAreRemembered) {
  const TemporaryFolder folder;
  folder.add("failing", "failing", [](config::Manifest&) {});
  folder.add("idle", "idle", [](config::Manifest& manifest) { manifest.offers[0].name = "idle"; });
  folder.add("empty", "empty", [](config::Manifest& manifest) { manifest.offers[0].name = "empty"; });
  Registry registry;
  registry.load_all(config::Catalogue::load({folder.path()}));
  ASSERT_EQ(registry.failures().size(), 3u);
  EXPECT_NE(registry.failures()[0].reason.find("empty.so: not an Encore plugin; its source must end with "
                                               "ENCORE_PLUGIN(name, version) { ... }"),
            std::string::npos);
  EXPECT_NE(registry.failures()[1].reason.find("cannot register: the moon is full"), std::string::npos);
  EXPECT_NE(registry.failures()[2].reason.find("registers nothing"), std::string::npos);
}

}  // namespace
}  // namespace encore::plugin_host
