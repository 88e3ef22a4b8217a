// SPDX-License-Identifier: BSD-3-Clause
// Tests how the catalogue (config/catalogue.hpp) knows plugins that ship but are not built yet: a list in the
// plugin folder (`offers_file`, one "kind type plugin" per line, written by the build) names their types. A
// command that needs one fails with NotBuilt, from whose names ./exp builds the plugins, all at once.
// manifest_test.cpp tests plugins that are built. cmake/components.cmake writes the list, so its form changes
// in both places.
#include "config/catalogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "config/experiment_file.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::config {
namespace {

using Names = std::vector<std::string>;

/// Returns the plugins that `call` needs and that are not built; empty if it needs none.
template <class Call>
Names missing_in(const Call& call) {
  try {
    call();
    return {};
  } catch (const NotBuilt& missing) {
    return missing.names();
  }
}

class UnbuiltPlugins : public ::testing::Test {
 protected:
  UnbuiltPlugins() {
    std::ofstream(folder_ / offers_file)
        << "layer highway highway\noptimizer adam adam\noptimizer adamw adam\n"
           "head linear linear_head\nschedule linear linear_schedule\n";
  }
  testing::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
};

TEST_F(UnbuiltPlugins, ANameThatIsLookedForSaysWhichPluginIsMissing) {
  const Catalogue catalogue = Catalogue::load({folder_});
  EXPECT_EQ(missing_in([&] { catalogue.find(Kind::optimizer, "adamw"); }), Names{"adam"});
  EXPECT_EQ(missing_in([&] { catalogue.owner(Kind::layer, "highway"); }), Names{"highway"});
  EXPECT_EQ(catalogue.find(Kind::layer, "adamw"), nullptr) << "of another kind";
  EXPECT_EQ(catalogue.find(Kind::layer, "nothing"), nullptr);
  try {
    catalogue.get(Kind::head, "linear");
    FAIL();
  } catch (const NotBuilt& missing) {
    EXPECT_EQ(missing.what(), "not built yet: linear_head (missing in " + folder_.string() +
                                  "); build it: ./exp build linear_head");
  }
}

TEST_F(UnbuiltPlugins, TheirTypesAreOfferedWhereANameIsWrong) {
  const Catalogue catalogue = Catalogue::load({folder_});
  EXPECT_EQ(catalogue.names(Kind::optimizer), (Names{"adam", "adamw"}));
  const std::string message = catalogue.unknown(Kind::layer, "higway");
  EXPECT_NE(message.find("did you mean \"highway\""), std::string::npos) << message;
}

TEST_F(UnbuiltPlugins, AllThatAFileNamesAreMissedAtOnce) {
  const Catalogue catalogue = Catalogue::load({folder_});
  const ExperimentFile file = parse_experiment_file(
      "[optimizer]\ntype = \"adamw\"\n[model]\nblock = [\"highway\"]\n", "a.toml", {"schedule.type=linear"});
  EXPECT_EQ(missing_in([&] { catalogue.require_built(strings_of(file)); }),
            (Names{"highway", "adam", "linear_head", "linear_schedule"}))
      << "a name counts whatever its kind";
  EXPECT_EQ(missing_in([&] { catalogue.require_built({"sgd"}); }), Names{});
  EXPECT_EQ(missing_in([&] { catalogue.require_all_built(Kind::head); }), Names{"linear_head"});
  EXPECT_EQ(missing_in([&] { catalogue.require_all_built(); }).size(), 4U);
}

TEST_F(UnbuiltPlugins, AManifestBesideTheListIsWhatCounts) {
  std::ofstream(folder_ / "highway.json") << "damaged";
  const Catalogue catalogue = Catalogue::survey({folder_});
  EXPECT_EQ(catalogue.refused().size(), 1U);
  EXPECT_EQ(catalogue.find(Kind::layer, "highway"), nullptr);
  EXPECT_EQ(catalogue.unbuilt().size(), 3U);
}

}  // namespace
}  // namespace encore::config
