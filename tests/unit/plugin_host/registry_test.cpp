#include "plugin_host/registry.hpp"

#include <gtest/gtest.h>

#include "samples.hpp"

namespace encore {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

const std::vector<TypeName> half{{Kind::schedule, "half"}};

TEST(Registry, LoadsWhatIsNeededAndBuildsIt) {
  const TemporaryFolder folder;
  folder.add("a");
  Registry registry;
  registry.load(Catalogue::load({folder.path()}), half);
  Options options;
  options.set("factor", 0.25);
  EXPECT_EQ(registry.make_schedule("half", options, {})->factor(1), 0.25);
  ASSERT_EQ(registry.plugins().size(), 1u);
  EXPECT_EQ(registry.plugins()[0].name, "sample");
  EXPECT_EQ(registry.plugins()[0].version, "1.2.3");
  EXPECT_EQ(registry.plugins()[0].sha256.size(), 64u);
  EXPECT_EQ(registry.plugins()[0].file, folder.path() / "a.so");
}

TEST(Registry, WhatIsNotNeededStaysOnDisk) {
  const TemporaryFolder folder;
  folder.add("a", [](Manifest& manifest) { manifest.fingerprint = "sdk=0"; });
  Registry registry;
  registry.load(Catalogue::load({folder.path()}), {});
  EXPECT_TRUE(registry.plugins().empty());
  EXPECT_TRUE(registry.failures().empty());
}

TEST(Registry, LoadingTwiceLoadsOnce) {
  const TemporaryFolder folder;
  folder.add("a");
  const Catalogue catalogue = Catalogue::load({folder.path()});
  Registry registry;
  registry.load(catalogue, half);
  registry.load(catalogue, half);
  registry.load_all(catalogue);
  EXPECT_EQ(registry.plugins().size(), 1u);
}

TEST(Registry, AnotherBuildIsRefusedBeforeItsLibraryIsOpened) {
  const TemporaryFolder folder;
  folder.add("a", [](Manifest& manifest) { manifest.fingerprint = "sdk=0"; });
  std::filesystem::remove(folder.path() / "a.so");
  Registry registry;
  const std::string message = message_of([&] { registry.load(Catalogue::load({folder.path()}), half); });
  EXPECT_NE(message.find("sdk is 0 in the plugin and 1 here"), std::string::npos) << message;
  ASSERT_EQ(registry.failures().size(), 1u);
  EXPECT_EQ(registry.failures()[0].reason, message);
  EXPECT_FALSE(registry.offers(Kind::schedule, "half"));
}

TEST(Registry, AManifestOfAnotherLibraryIsRefused) {
  const TemporaryFolder folder;
  folder.add("a", [](Manifest& manifest) { manifest.offers[0].version = 2; });
  Registry registry;
  const std::string message = message_of([&] { registry.load(Catalogue::load({folder.path()}), half); });
  EXPECT_NE(message.find("a.json: does not describe a.so"), std::string::npos) << message;
}

TEST(Registry, LoadAllRemembersFailuresAndGoesOn) {
  const TemporaryFolder folder;
  folder.add("a");
  folder.add("b", [](Manifest& manifest) {
    manifest.offers[0].name = "other";
    manifest.fingerprint = "sdk=0";
  });
  Registry registry;
  registry.load_all(Catalogue::load({folder.path()}));
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
  const std::string message = message_of([&] { registry.load_all(Catalogue::load({folder.path()})); });
  EXPECT_NE(message.find("the schedule \"half\" is offered by both this test and " +
                         (folder.path() / "a.so").string()),
            std::string::npos)
      << message;
  EXPECT_TRUE(registry.plugins().empty());
  EXPECT_EQ(registry.all(Kind::schedule).size(), 1u);
}

TEST(Registry, AnUnknownTypeSuggestsTheNearest) {
  const TemporaryFolder folder;
  folder.add("a");
  Registry registry;
  const Catalogue catalogue = Catalogue::load({folder.path()});
  const std::vector<TypeName> mistyped{{Kind::schedule, "hafl"}};
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

TEST(Registry, AnExperimentNeedsEachTypeOnce) {
  Experiment experiment;
  experiment.tokenizer.type = "wordpiece";
  experiment.model.norm.type = "layer_norm";
  experiment.model.block.resize(2);
  experiment.model.block[0].type = experiment.model.block[1].type = "self_attention";
  experiment.model.head.type = "linear";
  experiment.optimizer.type = "adam";
  experiment.schedule.type = "linear";
  const std::vector<TypeName> types = needed_types(experiment);
  EXPECT_EQ(types.size(), 6u);
  EXPECT_EQ(std::count(types.begin(), types.end(), TypeName{Kind::layer, "self_attention"}), 1);
}

}  // namespace
}  // namespace encore
