// Manifests on disk and the catalogue made of them: lookup, second owners, damaged files.
#include "config/manifest.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include <nlohmann/json.hpp>

namespace encore {
namespace {

namespace fs = std::filesystem;

class ManifestTest : public ::testing::Test {
 protected:
  ManifestTest() {
    folder_ = fs::path(::testing::TempDir()) /
              ("manifest_" + std::to_string(::getpid()) + "_" +
               std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "more");
  }
  ~ManifestTest() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  static Manifest sample(const std::string& layer) {
    return {"sample",
            "1.2.0",
            "sdk=1;",
            "sample.so",
            {{Kind::layer, layer, 3, Schema().integer("heads", 4, {.help = "heads", .min = 1})}}};
  }

  static std::string problem(const nlohmann::json& json) {
    try {
      manifest_from_json(json);
    } catch (const Error& error) {
      return error.what();
    }
    return "no problem";
  }

  fs::path folder_;
};

TEST_F(ManifestTest, FindsWhatThePluginsOffer) {
  write("a.json", manifest_to_json(sample("highway")).dump());
  write("more/b.json", manifest_to_json(sample("self_attention")).dump());
  write("a.txt", "not read");
  const Catalogue catalogue = Catalogue::load({folder_, folder_ / "more", folder_, folder_ / "absent"});
  EXPECT_EQ(catalogue.names(Kind::layer), (std::vector<std::string>{"highway", "self_attention"}));
  EXPECT_EQ(catalogue.get(Kind::layer, "highway").version, 3);
  EXPECT_EQ(catalogue.get(Kind::layer, "highway").options.find("heads")->rule.min, 1.0);
  EXPECT_EQ(catalogue.owner(Kind::layer, "highway")->library_path(), folder_ / "sample.so");
  EXPECT_EQ(catalogue.find(Kind::head, "highway"), nullptr);
  EXPECT_TRUE(catalogue.refused().empty());
}

TEST_F(ManifestTest, SuggestsTheNearestNameAndSaysWhereItSearched) {
  write("a.json", manifest_to_json(sample("self_attention")).dump());
  const Catalogue catalogue = Catalogue::load({folder_});
  try {
    catalogue.get(Kind::layer, "self_atention");
    FAIL() << "a layer was made up";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "no plugin offers a layer \"self_atention\"; did you mean \"self_attention\"? "
              "(searched: " +
                  folder_.string() + ")");
  }
  EXPECT_EQ(catalogue.unknown(Kind::layer, "highway"),
            "no plugin offers a layer \"highway\"; there is \"self_attention\" "
            "(searched: " +
                folder_.string() + ")");
}

TEST_F(ManifestTest, RefusesASecondOwnerOfAName) {
  write("a.json", manifest_to_json(sample("highway")).dump());
  write("b.json", manifest_to_json(sample("highway")).dump());
  try {
    Catalogue::load({folder_});
    FAIL() << "the second owner won";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "two plugins offer the layer \"highway\": " + (folder_ / "a.json").string() + " and " +
                  (folder_ / "b.json").string() + "; remove one of them from the plugin folders");
  }
}

TEST_F(ManifestTest, RemembersWhatItRefused) {
  write("a.json", "{ broken");
  write("b.json", manifest_to_json(sample("highway")).dump());
  const Catalogue catalogue = Catalogue::load({folder_});
  ASSERT_EQ(catalogue.refused().size(), 1U);
  EXPECT_EQ(catalogue.refused()[0].reason,
            (folder_ / "a.json").string() + ": the manifest is not JSON; build the plugin again");
  EXPECT_NE(catalogue.unknown(Kind::layer, "gone").find("refused: "), std::string::npos);
}

TEST_F(ManifestTest, SaysWhichFieldIsWrong) {
  const nlohmann::json good = manifest_to_json(sample("highway"));
  EXPECT_EQ(problem(good), "no problem");
  for (const char* field : {"format", "name", "version", "fingerprint", "library", "offers"}) {
    nlohmann::json json = good;
    json.erase(field);
    EXPECT_EQ(problem(json), "the manifest has no \"" + std::string(field) + "\"");
  }
  nlohmann::json json = good;
  json["format"] = 2;
  EXPECT_EQ(problem(json), "the manifest has format 2, this program reads format 1; build the plugin again");
  json = good;
  json["library"] = "../evil.so";
  EXPECT_EQ(problem(json), "\"library\" of the manifest must be a file name, found \"../evil.so\"");
  json = good;
  json["offers"][0]["kind"] = "toy";
  EXPECT_EQ(problem(json), "it offers something of the unknown kind \"toy\"");
  json = good;
  json["offers"][0]["options"][0]["type"] = "toy";
  EXPECT_EQ(problem(json), "layer \"highway\": option \"heads\" has the unknown type \"toy\"");
  json = good;
  json["offers"][0]["options"][0]["name"] = "type";
  EXPECT_EQ(problem(json), "layer \"highway\" declares an option \"type\", which is reserved");
}

}  // namespace
}  // namespace encore
