// SPDX-License-Identifier: BSD-3-Clause
// Tests manifests (config/manifest.hpp), the JSON files beside plugins, and the catalogue of all that a list
// of folders offers (config/catalogue.hpp): lookup of types, two plugins with one type, damaged files,
// plugins of another build. `exp` decides from manifests alone and loads no plugin. Members keep their names,
// because built plugins have them.
#include "config/catalogue.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "elf_file.hpp"

namespace encore::config {
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
    for (const char* file : {"sample.so", "more/sample.so"})
      sample::write_file(folder_ / file, sample::elf_file());
  }
  ~ManifestTest() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  /// Returns the manifest of a plugin with one layer.
  static Manifest manifest(const std::string& layer) {
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
  write("a.json", manifest_to_json(manifest("highway")).dump());
  write("more/b.json", manifest_to_json(manifest("self_attention")).dump());
  write("a.txt", "not read");
  fs::create_directory_symlink(folder_ / "more", folder_ / "again");
  const Catalogue catalogue = Catalogue::load({folder_, folder_ / "more", folder_, folder_ / "again"});
  EXPECT_EQ(catalogue.names(Kind::layer), (std::vector<std::string>{"highway", "self_attention"}));
  EXPECT_EQ(catalogue.get(Kind::layer, "highway").version, 3);
  EXPECT_EQ(catalogue.get(Kind::layer, "highway").options.find("heads")->rule.min, 1.0);
  EXPECT_EQ(catalogue.owner(Kind::layer, "highway")->library_path(), folder_ / "sample.so");
  EXPECT_EQ(catalogue.find(Kind::head, "highway"), nullptr);
  EXPECT_TRUE(catalogue.refused().empty());
}

TEST_F(ManifestTest, SuggestsTheNearestNameAndSaysWhereItSearched) {
  write("a.json", manifest_to_json(manifest("self_attention")).dump());
  const Catalogue catalogue = Catalogue::load({folder_});
  try {
    catalogue.get(Kind::layer, "self_atention");
    FAIL() << "found a layer that does not exist";
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
  write("a.json", manifest_to_json(manifest("highway")).dump());
  write("b.json", manifest_to_json(manifest("highway")).dump());
  try {
    Catalogue::load({folder_});
    FAIL() << "accepted the second owner";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "two plugins offer the layer \"highway\": " + (folder_ / "a.json").string() + " and " +
                  (folder_ / "b.json").string() + "; remove one of them from the plugin folders");
  }
}

TEST_F(ManifestTest, ASurveyRefusesOnlyTheSecondOwner) {
  write("a.json", manifest_to_json(manifest("highway")).dump());
  write("b.json", manifest_to_json(manifest("highway")).dump());
  const Catalogue catalogue = Catalogue::survey({folder_});
  EXPECT_EQ(catalogue.owner(Kind::layer, "highway")->file, folder_ / "a.json");
  ASSERT_EQ(catalogue.refused().size(), 1U);
  EXPECT_EQ(catalogue.refused()[0].reason,
            "two plugins offer the layer \"highway\": " + (folder_ / "a.json").string() + " and " +
                (folder_ / "b.json").string() + "; remove one of them from the plugin folders");
}

TEST_F(ManifestTest, RemembersADamagedManifest) {
  write("a.json", "{ broken");
  write("b.json", manifest_to_json(manifest("highway")).dump());
  const Catalogue catalogue = Catalogue::load({folder_});
  ASSERT_EQ(catalogue.refused().size(), 1U);
  EXPECT_EQ(catalogue.refused()[0].reason,
            (folder_ / "a.json").string() +
                ": the manifest cannot be read from line 1, column 3: no JSON; build the plugin again");
  EXPECT_NE(catalogue.unknown(Kind::layer, "gone").find("refused: "), std::string::npos);
}

TEST_F(ManifestTest, RefusesADefaultThatNestsTooDeep) {
  nlohmann::json json = manifest_to_json(manifest("highway"));
  json["offers"][0]["options"] = {{{"name", "x"}, {"type", "text"}, {"default", "DEEP"}}};
  std::string text = json.dump();
  text.replace(text.find("\"DEEP\""), 6, std::string(100000, '[') + std::string(100000, ']'));
  write("a.json", text);
  const Catalogue catalogue = Catalogue::load({folder_});
  ASSERT_FALSE(catalogue.refused().empty());
  EXPECT_NE(catalogue.refused()[0].reason.find("nested more than 100 levels deep; build the plugin again"),
            std::string::npos)
      << catalogue.refused()[0].reason;
}

TEST_F(ManifestTest, DoesNotWaitForAPipe) {
  ASSERT_EQ(::mkfifo((folder_ / "a.json").c_str(), 0600), 0);
  const Catalogue catalogue = Catalogue::load({folder_});
  ASSERT_FALSE(catalogue.refused().empty());
  EXPECT_NE(catalogue.refused()[0].reason.find(": the manifest cannot be read: it is a pipe"),
            std::string::npos)
      << catalogue.refused()[0].reason;
}

TEST_F(ManifestTest, APluginOfAnotherBuildHarmsOnlyWhoNeedsIt) {
  Manifest other = manifest("highway");
  other.fingerprint = "sdk=1;backend=cuda";
  write("a.json", manifest_to_json(other).dump());
  Manifest fitting = manifest("highway");
  fitting.fingerprint = "sdk=1;backend=openmp";
  const Catalogue alone = Catalogue::load({folder_}, fitting.fingerprint);
  EXPECT_TRUE(alone.manifests().empty());
  EXPECT_EQ(alone.unknown(Kind::layer, "highway"),
            "the plugin that offers layer \"highway\" is refused: " + (folder_ / "sample.so").string() +
                ": plugin \"sample\" was built for another Encore: backend is cuda in the plugin and openmp "
                "here; rebuild it: exp plugin build DIR, where DIR is the folder of its source");
  // The builds for two backends in one folder are not two owners of a type: each run sees the one of its
  // backend.
  write("b.json", manifest_to_json(fitting).dump());
  EXPECT_EQ(Catalogue::load({folder_}, fitting.fingerprint).owner(Kind::layer, "highway")->file,
            folder_ / "b.json");
  EXPECT_EQ(Catalogue::load({folder_}, other.fingerprint).owner(Kind::layer, "highway")->file,
            folder_ / "a.json");
}

TEST_F(ManifestTest, AManifestNeedsItsSharedObject) {
  write("a.json", manifest_to_json(manifest("highway")).dump());
  sample::write_file(folder_ / "sample.so", sample::elf_file().substr(0, 90));
  EXPECT_EQ(Catalogue::load({folder_}).unknown(Kind::layer, "highway"),
            "the plugin that offers layer \"highway\" is refused: " + (folder_ / "sample.so").string() +
                ": is cut off at 90 of 192 bytes; build it again or copy it whole");
}

TEST_F(ManifestTest, ASharedObjectNeedsItsManifest) {
  const Catalogue catalogue = Catalogue::load({folder_});
  ASSERT_EQ(catalogue.refused().size(), 1U);
  EXPECT_EQ(catalogue.refused()[0].file, folder_ / "sample.so");
  EXPECT_EQ(
      catalogue.refused()[0].reason,
      (folder_ / "sample.so").string() +
          ": has no manifest sample.json beside it, which the build of a plugin writes; build it again: "
          "exp plugin build DIR, where DIR is the folder of its source");
}

TEST_F(ManifestTest, AFolderThatIsNotThereIsNamed) {
  const Catalogue catalogue = Catalogue::load({folder_ / "absent"});
  ASSERT_EQ(catalogue.refused().size(), 1U);
  EXPECT_EQ(
      catalogue.refused()[0].reason,
      (folder_ / "absent").string() +
          ": this plugin folder cannot be read: No such file or directory; make it readable, or take it "
          "out of the plugin path");
}

/// Exits with 0 if the folder is rejected for lack of permission. Root may read everything, so it gives up
/// its rights.
[[noreturn]] void read_as_nobody(const fs::path& folder) {
  if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(3);
  const Catalogue catalogue = Catalogue::load({folder});
  const std::string wanted = folder.string() +
                             ": this plugin folder cannot be read: Permission denied; make it readable, or "
                             "take it out of the plugin path";
  ::_exit(catalogue.refused().size() == 1 && catalogue.refused()[0].reason == wanted ? 0 : 1);
}

TEST_F(ManifestTest, AFolderWithoutPermissionIsNamed) {
  fs::permissions(folder_ / "more", fs::perms::none);
  const pid_t child = ::fork();
  if (child == 0) read_as_nobody(folder_ / "more");
  int status = 0;
  ::waitpid(child, &status, 0);
  fs::permissions(folder_ / "more", fs::perms::owner_all);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 3) GTEST_SKIP() << "root here cannot become another user";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(ManifestTest, DifferencesAreNamedWithBothValues) {
  const Manifest library = manifest("highway");
  EXPECT_EQ(manifest_difference(library, library), "");
  Manifest other = library;
  other.version = "1.3.0";
  EXPECT_EQ(manifest_difference(other, library), "its version is 1.3.0 in the manifest and 1.2.0 in it");
  other = library;
  other.offers[0].version = 2;
  EXPECT_EQ(manifest_difference(other, library),
            "layer \"highway\" is version 2 in the manifest and version 3 in it");
  other = library;
  other.offers[0].options = Schema().integer("heads", 8, {.help = "heads", .min = 1});
  const std::string heads = manifest_difference(other, library);
  EXPECT_TRUE(heads.starts_with("option \"heads\" of layer \"highway\" is {\"default\":8,")) << heads;
  EXPECT_NE(heads.find(" in the manifest and {\"default\":4,"), std::string::npos) << heads;
  other = library;
  other.offers[0].options = Schema().integer("heads", 4, {.help = "heads", .min = 2});
  EXPECT_NE(manifest_difference(other, library), "") << "a range counts";
  other.offers.clear();
  EXPECT_NE(manifest_difference(other, library)
                .find("layer \"highway\" is absent in the manifest and version 3 in it"),
            std::string::npos);
}

TEST_F(ManifestTest, SaysWhichFieldIsWrong) {
  const nlohmann::json good = manifest_to_json(manifest("highway"));
  EXPECT_EQ(problem(good), "no problem");
  for (const char* field : {"format", "name", "version", "fingerprint", "library", "offers"}) {
    nlohmann::json json = good;
    json.erase(field);
    EXPECT_EQ(problem(json), "the manifest has no \"" + std::string(field) + "\"");
  }
  nlohmann::json json = good;
  for (const int other : {1, 3}) {
    json["format"] = other;
    EXPECT_EQ(problem(json), "the manifest has format " + std::to_string(other) +
                                 ", this program reads format 2; build the plugin again");
  }
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

/// Returns the JSON of a task and of a reader, as manifests have it.
nlohmann::json host_parts() {
  return manifest_to_json({"sample",
                           "1.2.0",
                           "sdk=1;",
                           "sample.so",
                           {{.kind = Kind::task,
                             .name = "rate",
                             .needs = {{"text"}, {"label"}},
                             .measures = {{.name = "accuracy",
                                           .title = "Accuracy",
                                           .help = "a share",
                                           .unit = "points",
                                           .fraction = true,
                                           .reducer = Reducer::ratio,
                                           .columns = {"right", "all"}},
                                          {.name = "error/{label}",
                                           .better = Better::lower,
                                           .reducer = Reducer::ratio,
                                           .columns = {"right", "all"},
                                           .always = false}},
                             .select = "max dev/accuracy"},
                            {.kind = Kind::reader,
                             .name = "tsv",
                             .options = Schema().text("separator", "tab", {.help = "x"}),
                             .gives = {"text", "label"}}}});
}

TEST_F(ManifestTest, ATaskAndAReaderSurviveTheWayThroughJson) {
  const Manifest read = manifest_from_json(nlohmann::json::parse(host_parts().dump()));
  ASSERT_EQ(read.offers.size(), 2U);
  EXPECT_EQ(read.offers[0].needs, (TaskFields{{"text"}, {"label"}}));
  ASSERT_EQ(read.offers[0].measures.size(), 2U);
  EXPECT_EQ(read.offers[0].measures[0], (Measure{.name = "accuracy",
                                                 .title = "Accuracy",
                                                 .help = "a share",
                                                 .unit = "points",
                                                 .fraction = true,
                                                 .reducer = Reducer::ratio,
                                                 .columns = {"right", "all"}}));
  EXPECT_EQ(read.offers[0].measures[1].better, Better::lower);
  EXPECT_FALSE(read.offers[0].measures[1].always);
  EXPECT_EQ(read.offers[0].select, "max dev/accuracy");
  EXPECT_EQ(read.offers[1].gives, (std::vector<std::string>{"text", "label"}));
  EXPECT_EQ(manifest_to_json(read), host_parts());
}

TEST_F(ManifestTest, OptionalFieldsSurviveTheWayThroughJson) {
  Manifest written = manifest_from_json(host_parts());
  EXPECT_FALSE(host_parts()["offers"][0]["needs"].contains("optional")) << "empty lists are left out";
  EXPECT_FALSE(host_parts()["offers"][1].contains("may_give"));
  written.offers[0].needs.optional = {"text2"};
  written.offers[1].may_give = {{"text2"}, {"number", "label_column"}, {"labels", "label_type", "list"}};
  const Manifest read = manifest_from_json(nlohmann::json::parse(manifest_to_json(written).dump()));
  EXPECT_EQ(read.offers[0].needs, (TaskFields{{"text"}, {"label"}, {"text2"}}));
  EXPECT_EQ(read.offers[1].may_give, written.offers[1].may_give);
  EXPECT_EQ(manifest_difference(manifest_from_json(host_parts()), written),
            R"(the "may_give" of reader "tsv" is absent in the manifest and ["text2",)"
            R"({"field":"number","option":"label_column"},)"
            R"({"field":"labels","option":"label_type","value":"list"}] in it, )"
            R"(the "needs" of task "rate" is {"structure":["text"],"truth":["label"]} in the manifest and )"
            R"({"optional":["text2"],"structure":["text"],"truth":["label"]} in it)");
  nlohmann::json json = manifest_to_json(written);
  json["offers"][1]["may_give"] = 3;
  EXPECT_EQ(problem(json), "\"may_give\" of reader \"tsv\" has the wrong type: 3");
  json["offers"][1]["may_give"] = {"text2", 3};
  EXPECT_EQ(problem(json), "\"may_give\" of reader \"tsv\" has the wrong type: [\"text2\",3]");
  json["offers"][1]["may_give"] = nlohmann::json::array({{{"field", "text2"}}});
  EXPECT_NE(problem(json).find("\"option\""), std::string::npos) << problem(json);
}

TEST_F(ManifestTest, WhatAReaderMayGiveIsNotMissing) {
  const ManifestOffer task = {.kind = Kind::task, .name = "rate", .needs = {{"text", "text2"}, {"labels"}}};
  ManifestOffer reader = {.kind = Kind::reader, .name = "tsv", .gives = {"text", "label"}};
  EXPECT_EQ(missing_fields(task, reader), (std::vector<std::string>{"text2", "labels"}));
  reader.may_give = {{"labels"}};
  EXPECT_EQ(missing_fields(task, reader), std::vector<std::string>{"text2"});
}

TEST_F(ManifestTest, AFieldIsMissingUntilItsOptionIsSet) {
  const ManifestOffer task = {.kind = Kind::task, .name = "rate", .needs = {{"text", "text2"}, {"labels"}}};
  const ManifestOffer reader = {
      .kind = Kind::reader,
      .name = "tsv",
      .options = Schema()
                     .text("text2_column", "", {.help = "column of the second text"})
                     .choice("label_type", "text", {"text", "list", "number"}, {.help = "what a label is"}),
      .gives = {"text", "label"},
      .may_give = {{"text2", "text2_column"}, {"labels", "label_type", "list"}}};
  EXPECT_TRUE(missing_fields(task, reader).empty()) << "options can add both";
  Options options;
  options.set("text2_column", std::string());
  options.set("label_type", std::string("number"));
  EXPECT_EQ(missing_fields(task, reader, options), (std::vector<std::string>{"text2", "labels"}));
  options.set("text2_column", std::string("3"));
  EXPECT_EQ(missing_fields(task, reader, options), std::vector<std::string>{"labels"});
  options.set("label_type", std::string("list"));
  EXPECT_TRUE(missing_fields(task, reader, options).empty());
  options.set("label_type", true);
  EXPECT_TRUE(missing_fields(task, reader, options).empty()) << "a plugin check refuses a value for a flag";
  EXPECT_TRUE(missing_fields(task, reader, Options()).empty())
      << "an option that has its own error is not blamed";
}

TEST_F(ManifestTest, DifferencesOfTasksAndReadersAreNamed) {
  const Manifest library = manifest_from_json(host_parts());
  const auto difference = [&](const auto& change) {
    Manifest other = library;
    change(other.offers[0], other.offers[1]);
    return manifest_difference(other, library);
  };
  EXPECT_EQ(difference([](auto&, auto&) {}), "");
  EXPECT_EQ(difference([](auto& task, auto&) { task.needs.truth.clear(); }),
            R"(the "needs" of task "rate" is {"structure":["text"],"truth":[]} in the manifest and )"
            R"({"structure":["text"],"truth":["label"]} in it)");
  EXPECT_EQ(difference([](auto& task, auto&) { task.select = "min dev/loss"; }),
            R"(the "select" of task "rate" is "min dev/loss" in the manifest and "max dev/accuracy" in it)");
  EXPECT_EQ(difference([](auto&, auto& reader) { reader.gives = {"text"}; }),
            R"(the "gives" of reader "tsv" is ["text"] in the manifest and ["text","label"] in it)");
  const std::string measure = difference([](auto& task, auto&) { task.measures[0].better = Better::lower; });
  EXPECT_TRUE(measure.starts_with("measure \"accuracy\" of task \"rate\" is {")) << measure;
  EXPECT_NE(measure.find("\"better\":\"lower\""), std::string::npos) << measure;
}

TEST_F(ManifestTest, SaysWhatIsWrongWithATaskOrAReader) {
  EXPECT_EQ(problem(host_parts()), "no problem");
  const auto with = [](const auto& change) {
    nlohmann::json json = host_parts();
    change(json["offers"][0], json["offers"][1]);
    return problem(json);
  };
  for (const char* field : {"needs", "measures", "select"})
    EXPECT_EQ(with([&](auto& task, auto&) { task.erase(field); }),
              "task \"rate\" has no \"" + std::string(field) + "\"");
  EXPECT_EQ(with([](auto&, auto& reader) { reader.erase("gives"); }), "reader \"tsv\" has no \"gives\"");
  EXPECT_EQ(with([](auto& task, auto&) { task["needs"].erase("truth"); }),
            "the needs of task \"rate\" has no \"truth\"");
  EXPECT_EQ(with([](auto&, auto& reader) {
              reader["gives"] = {"text", 3};
            }),
            "\"gives\" of reader \"tsv\" has the wrong type: [\"text\",3]");
  EXPECT_EQ(with([](auto& task, auto&) { task["measures"][1] = task["measures"][0]; }),
            "task \"rate\" declares the measure \"accuracy\" twice");
  const std::string same_name = "task \"rate\" declares the measure \"";
  EXPECT_EQ(with([](auto& task, auto&) { task["measures"][0]["name"] = "error/rain"; }),
            same_name + "error/rain\", which could be one of the family \"error/{label}\"");
  EXPECT_EQ(with([](auto& task, auto&) { task["measures"][0]["name"] = "error/{class}"; }),
            same_name + "error/{label}\", which could be one of the family \"error/{class}\"");
  EXPECT_EQ(with([](auto& task, auto&) { task["measures"][1]["name"] = "loss"; }),
            "task \"rate\" declares a measure \"loss\", which every run has already");
  EXPECT_EQ(
      with([](auto& task, auto&) { task["select"] = "min dev/accuracy"; }),
      "\"select\" of task \"rate\" is \"min dev/accuracy\", but a higher accuracy is the better one; write "
      "\"max dev/accuracy\"");
  EXPECT_EQ(with([](auto&, auto& reader) { reader["options"][0]["name"] = "train"; }),
            "reader \"tsv\" declares an option \"train\", which [data] has of its own; give it another name");
  EXPECT_EQ(with([](auto&, auto& reader) { reader["options"][0]["name"] = "type"; }),
            "reader \"tsv\" declares an option \"type\", which is reserved");
}

}  // namespace
}  // namespace encore::config
