// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp bundle`, `exp bundle show` and `exp verify` of a bundle with the scripted worker
// (cli/bundle_verb.cpp, bundle/pack_bundle.hpp, bundle/check_bundle.hpp): what is packed, what is left out,
// what another machine finds and what it misses. forged_bundle_test.cpp and hostile_bundle_test.cpp change
// bundles. Bundles exist outside of Encore, so their form must stay; the printed words may change.
#include <gtest/gtest.h>

#include <algorithm>

#include "config/manifest.hpp"
#include "support/places.hpp"
#include "system/control/archive.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Bundle : public ::testing::Test {
 protected:
  void SetUp() override {
    sandbox_.set("FAKE_STEP_MS", "0");
    sandbox_.set("FAKE_WEIGHTS", "1");
    sandbox_.set("TMPDIR", (sandbox_.folder() / "aside").string());
    fs::create_directory(sandbox_.folder() / "aside");
  }
  void TearDown() override {
    EXPECT_TRUE(fs::is_empty(sandbox_.folder() / "aside")) << "something was left behind";
  }

  runner::ProgramOutput exp(const std::vector<std::string>& arguments, int exit_code = 0) const {
    const runner::ProgramOutput output = sandbox_.exp(arguments);
    EXPECT_EQ(output.end.exit_code, exit_code) << output.output << output.errors;
    return output;
  }
  void train(const std::string& file = "tiny.toml") const { exp({"run", file, "-q"}); }
  /// Moves database and data away, as on another machine.
  void move_away() const {
    for (const char* name :
         {"encore.db", "encore.db.runs", "train.conll", "dev.conll", "test.conll", "state"}) {
      if (!fs::exists(sandbox_.folder() / name)) continue;
      fs::create_directories(sandbox_.folder() / "elsewhere");
      fs::rename(sandbox_.folder() / name, sandbox_.folder() / "elsewhere" / name);
    }
  }
  std::vector<std::string> names(const std::string& archive) const {
    std::vector<std::string> names;
    for (const auto& [name, content] : Archive::load(sandbox_.folder() / archive).files)
      names.push_back(name);
    return names;
  }
  std::string id(const std::string& run = "tiny") const {
    return sandbox_.one("SELECT id FROM run WHERE name = '" + run + "'");
  }

  Sandbox sandbox_;
};

TEST_F(Bundle, HoldsTheRecordAndIsVerifiedWithoutTheDatabase) {
  train();
  const std::string folder = "encore.db.runs/" + id() + "/";
  const runner::ProgramOutput packed = exp({"bundle", "tiny", "-o", "tiny.tar.zst"});
  EXPECT_TRUE(contains(packed.output, "tiny.tar.zst  run tiny, ")) << packed.output;
  EXPECT_TRUE(contains(packed.output, sha256_of_file(sandbox_.folder() / "tiny.tar.zst"))) << packed.output;
  const std::vector<std::string> held = names("tiny.tar.zst");
  for (const std::string& name :
       {std::string("encore.db"), std::string("report.html"), folder + "specification.json",
        folder + "attempt-0001.spool", folder + "weights.safetensors"})
    EXPECT_TRUE(std::ranges::find(held, name) != held.end()) << name;
  EXPECT_TRUE(std::ranges::is_sorted(held));
  EXPECT_TRUE(std::ranges::none_of(held, [](const std::string& name) {
    return name.starts_with("data/") || contains(name, "checkpoints/") || contains(name, "lease");
  }));
  const fs::path data = sandbox_.folder();
  move_away();
  const runner::ProgramOutput verified = exp({"verify", "tiny.tar.zst", "--data", "elsewhere"});
  EXPECT_TRUE(contains(verified.output, "tiny equal: 6 digests of steps 5 to 20 agree, and so do "))
      << verified.output;
  EXPECT_FALSE(fs::exists(data / "encore.db")) << "a bundle needs no database and makes none";
  const json verdict = json::parse(exp({"verify", "tiny.tar.zst", "--data", "elsewhere", "--json"}).output);
  EXPECT_EQ(verdict.at("outcome"), "equal");
}

/// "show" is an action of exp bundle and may also be the name of a run; with -o the command packs that run.
TEST_F(Bundle, ARunCalledShowIsPackedAndShown) {
  sandbox_.write("show.toml", tiny_experiment("show"));
  train("show.toml");
  EXPECT_TRUE(contains(exp({"bundle", "show", "-o", "show.tar.zst"}).output, "run show, "));
  EXPECT_TRUE(contains(exp({"bundle", "-o", "again.tar.zst", "show"}).output, "run show, "));
  EXPECT_TRUE(contains(exp({"bundle", "show", "show.tar.zst"}).output, "  subject  run show\n"));
  EXPECT_TRUE(contains(exp({"bundle", "show", "show", "--output=two.tar.zst"}).output, "run show, "));
  EXPECT_TRUE(contains(exp({"bundle", "show"}, 2).errors, "needs FILE.tar.zst"));
}

/// The folder into which a bundle is unpacked no longer exists when a user reads a message.
TEST_F(Bundle, ARefusalNamesTheBundleAndNoFolderThatIsGone) {
  train();
  exp({"bundle", "tiny", "-o", "tiny.tar.zst"});
  const std::string aside = (sandbox_.folder() / "aside").string();
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"tinny"}, {"x*"}, {"0123456789"}, {"--state", "failed"}}) {
    std::vector<std::string> arguments = {"verify", "tiny.tar.zst"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const std::string said = exp(arguments, 2).errors;
    EXPECT_FALSE(contains(said, aside)) << said;
  }
  EXPECT_TRUE(
      contains(exp({"verify", "tiny.tar.zst", "x*"}, 2).errors, "no run matches \"x*\" in tiny.tar.zst"));
}

TEST_F(Bundle, TakesEveryFileThatGivesTheParametersTheirMeaning) {
  train();
  const std::string folder = "encore.db.runs/" + id() + "/";
  for (const std::string name : {"vocab.txt", "labels.txt", "max_length.txt"})
    sandbox_.write(folder + name, "7\n");
  exp({"bundle", "tiny", "-o", "tiny.tar.zst"});
  const std::vector<std::string> held = names("tiny.tar.zst");
  for (const std::string name : {"vocab.txt", "labels.txt", "max_length.txt"})
    EXPECT_TRUE(std::ranges::find(held, folder + name) != held.end()) << name;
}

TEST_F(Bundle, EqualRunsGiveEqualBytes) {
  train();
  exp({"bundle", "tiny", "-o", "a.tar.zst"});
  exp({"bundle", "tiny", "-o", "b.tar.zst"});
  EXPECT_EQ(sandbox_.read("a.tar.zst"), sandbox_.read("b.tar.zst"));
  exp({"tag", "tiny", "+seen"});
  exp({"bundle", "tiny", "-o", "c.tar.zst"});
  EXPECT_NE(sandbox_.read("a.tar.zst"), sandbox_.read("c.tar.zst"));
}

TEST_F(Bundle, MergedIntoTheDatabaseItCameFromChangesNothing) {
  train();
  exp({"bundle", "tiny", "-o", "tiny.tar.zst"});
  const std::string planned = exp({"db", "merge", "tiny.tar.zst", "--csv", "-n"}).output;
  EXPECT_TRUE(planned.starts_with("database,run,id,outcome,conflict,remark\r\ntiny.tar.zst,tiny,"))
      << planned;
  const json merged = json::parse(exp({"db", "merge", "tiny.tar.zst", "--json"}).output);
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM run"), "1") << merged;
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM attempt"), "1") << merged;
  EXPECT_EQ(sandbox_.one("SELECT origin FROM run"), "") << "the run is still this database's own: " << merged;
  EXPECT_FALSE(contains(merged.dump(), "\"conflict\":true")) << merged;
}

TEST_F(Bundle, SaysHowToLookAtItInAShell) {
  train();
  EXPECT_TRUE(contains(exp({"bundle", "tiny", "-o", "tiny.tar.zst"}).output, " bundle show tiny.tar.zst\n"));
  EXPECT_TRUE(contains(exp({"bundle", "tiny", "-o", "b c.tar.zst"}).output, " bundle show 'b c.tar.zst'\n"));
}

TEST_F(Bundle, HoldsOnlyWhatWasAskedFor) {
  train();
  sandbox_.write("other.toml", tiny_experiment("secret-plan") + "[sweep.grid]\n\"model.dropout\" = [0.3]\n");
  train("other.toml");
  exp({"bundle", "tiny", "-o", "tiny.tar.zst"});
  Archive archive = Archive::load(sandbox_.folder() / "tiny.tar.zst");
  for (const auto& [name, content] : archive.files) EXPECT_FALSE(contains(content, "secret-plan")) << name;
  EXPECT_FALSE(contains(archive.metadata.dump(), "secret-plan"));
}

/// Hosts, builds and code are shared by runs: a bundle must not contain those of other runs.
TEST_F(Bundle, HoldsNoRowThatItsRunsDoNotReferTo) {
  train();
  sandbox_.change(
      "INSERT INTO code (commit_hash, diff) VALUES ('c0ffee', 'a secret change');"
      "INSERT INTO host (description) VALUES ('{\"name\": \"a secret host\"}');"
      "INSERT INTO source (commit_hash, diff, archive, sha256) VALUES ('c0ffee', 'a secret source', '', '');"
      "INSERT INTO build (description, source) VALUES ('{\"version\": \"a secret build\"}', 1);"
      "INSERT INTO dataset (sha256) VALUES ('a secret file')");
  exp({"bundle", "tiny", "-o", "tiny.tar.zst"});
  const std::string database = Archive::load(sandbox_.folder() / "tiny.tar.zst").content("encore.db");
  EXPECT_FALSE(contains(database, "a secret"));
  EXPECT_TRUE(contains(database, "tiny"));
}

TEST_F(Bundle, PacksDataWhereThatIsAskedFor) {
  train();
  exp({"bundle", "tiny", "--data", "-o", "tiny.tar.zst"});
  move_away();
  EXPECT_TRUE(contains(exp({"verify", "tiny.tar.zst"}).output, "tiny equal: "));
  const std::string files = exp({"bundle", "show", "tiny.tar.zst", "--csv"}).output;
  EXPECT_TRUE(files.starts_with("file,bytes,sha256\r\n")) << files;
  EXPECT_TRUE(contains(files, "\r\nencore.db,")) << files;
  EXPECT_TRUE(contains(exp({"bundle", "show", "tiny.tar.zst", "--csv", "--claims"}).output,
                       "table,column,value\r\n"));
  const json listed = json::parse(exp({"bundle", "show", "tiny.tar.zst", "--json", "--files"}).output);
  EXPECT_EQ(listed.at("files").at(0).at("sha256").get<std::string>().size(), 64u);
  const json shown = json::parse(exp({"bundle", "show", "tiny.tar.zst", "--json"}).output);
  const json& trained = shown.at("trained");
  ASSERT_EQ(trained.at("data").size(), 3u);
  for (const json& data : trained.at("data")) EXPECT_EQ(data.at("packed"), true);
  EXPECT_EQ(trained.at("runs").at(0).at("digests"), 6);
  EXPECT_EQ(shown.at("claimed").at("runs").at(0).at("name"), "tiny");
}

TEST_F(Bundle, SaysWhatIsMissing) {
  train();
  const std::string train_digest = sha256_of_file(sandbox_.folder() / "train.conll");
  const std::string place = (fs::canonical(sandbox_.folder()) / "train.conll").string();
  exp({"bundle", "tiny", "-o", "tiny.tar.zst"});
  move_away();
  const runner::ProgramOutput lacking = exp({"verify", "tiny.tar.zst"}, 2);
  EXPECT_TRUE(
      contains(lacking.errors, "this machine lacks files that the bundle needs:\n  data: dev of run tiny, "))
      << lacking.errors;
  EXPECT_TRUE(
      contains(lacking.errors, "data: train of run tiny, SHA-256 " + train_digest + ", recorded at " + place))
      << lacking.errors;
  // Different content under the same name is rejected.
  sandbox_.write("train.conll", "Anna B-PER\n");
  EXPECT_TRUE(contains(exp({"verify", "tiny.tar.zst", "--data", "."}, 2).errors, "data: train of run tiny"));
  EXPECT_TRUE(contains(exp({"verify", "tiny.tar.zst", "--data", "absent"}, 2).errors,
                       "--data absent is not a folder"));
}

TEST_F(Bundle, AChangedTrainingIsDifferent) {
  train();
  exp({"bundle", "tiny", "--data", "-o", "tiny.tar.zst"});
  sandbox_.set("FAKE_CHANGE_AT", "7");
  const runner::ProgramOutput changed = exp({"verify", "tiny.tar.zst"}, 3);
  EXPECT_TRUE(contains(changed.output, "tiny different: from step 10 on")) << changed.output;
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM verification"), "0")
      << "the user's own database has no part in it";
}

TEST_F(Bundle, AScoreThatItsParametersDoNotHaveIsDifferent) {
  train();
  exp({"bundle", "tiny", "--data", "-o", "tiny.tar.zst"});
  sandbox_.set("FAKE_SURFACE", "1");  // other scores, the same parameters
  const runner::ProgramOutput changed = exp({"verify", "tiny.tar.zst"}, 3);
  EXPECT_TRUE(contains(changed.output, "tiny different: from step 5 on, first in dev/f1")) << changed.output;
  EXPECT_TRUE(contains(changed.output, "  the parameters agree, and of ")) << changed.output;
  EXPECT_TRUE(contains(changed.output, "dev/f1 of step 5 is 0.")) << changed.output;
  // With a step limit there is no score at the end.
  EXPECT_TRUE(contains(exp({"verify", "tiny.tar.zst", "--steps", "10"}).output, "agree (openmp, 1 thread)"));
}

TEST_F(Bundle, LeavesOutPrivateDataUnlessRequested) {
  std::string text = tiny_experiment();
  text.replace(text.find("[data]\n"), 7, "[data]\nprivate = true\n");
  sandbox_.write("tiny.toml", text);
  train();
  const runner::ProgramOutput packed = exp({"bundle", "tiny", "--data", "-o", "tiny.tar.zst"});
  EXPECT_TRUE(contains(packed.output, "without  data, vocabulary, labels and predictions of tiny"))
      << packed.output;
  for (const std::string& name : names("tiny.tar.zst"))
    EXPECT_FALSE(name.starts_with("data/") || contains(name, "vocab") || contains(name, "labels") ||
                 contains(name, "predictions"))
        << name;
  exp({"bundle", "tiny", "--data", "--private", "-o", "all.tar.zst"});
  const std::vector<std::string> all = names("all.tar.zst");
  EXPECT_EQ(std::ranges::count_if(all, [](const std::string& name) { return name.starts_with("data/"); }), 3);
  EXPECT_TRUE(contains(exp({"verify", "tiny.tar.zst"}).output, "tiny equal: "));
}

TEST_F(Bundle, TakesWeightsAsTheyAreWanted) {
  train();
  const auto count = [&](const std::string& weights) {
    exp({"bundle", "tiny", "--weights", weights, "-o", "tiny.tar.zst"});
    return std::ranges::count_if(names("tiny.tar.zst"),
                                 [](const std::string& name) { return name.ends_with(".safetensors"); });
  };
  EXPECT_EQ(count("none"), 0);
  EXPECT_EQ(count("best"), 1);
  EXPECT_GE(count("all"), 2);
  EXPECT_TRUE(contains(exp({"bundle", "tiny", "--weights", "some", "-o", "x.tar.zst"}, 2).errors,
                       "invalid --weights \"some\": expected none, best or all"));
}

TEST_F(Bundle, PacksEveryRunOfASweepAndVerifiesTheNamedOnes) {
  sandbox_.write("sweep.toml",
                 tiny_experiment("grid") + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2, 0.3]\n");
  train("sweep.toml");
  const runner::ProgramOutput packed = exp({"bundle", "grid", "--data", "-o", "grid.tar.zst"});
  EXPECT_TRUE(contains(packed.output, "sweep grid, 3 runs")) << packed.output;
  const std::string one = sandbox_.one("SELECT name FROM run ORDER BY number LIMIT 1");
  move_away();
  const runner::ProgramOutput verified = exp({"verify", "grid.tar.zst", one, "-q"});
  EXPECT_EQ(std::ranges::count(verified.output, '\n'), 1) << verified.output;
  EXPECT_EQ(json::parse(exp({"verify", "grid.tar.zst", "--json"}).output).size(), 3u);
  EXPECT_TRUE(contains(exp({"verify", "grid.tar.zst", "absent"}, 2).errors, "absent"));
}

TEST_F(Bundle, RecomputesTheDecisionsOfASearch) {
  sandbox_.set("FAKE_SURFACE", "1");
  sandbox_.write("search.toml",
                 tiny_experiment("search") +
                     "[search]\nmethod = \"random\"\nseed = 1\ntrials = 3\nobjective = \"max dev/f1\"\n"
                     "[search.space]\n\"model.dropout\" = { uniform = [0.0, 0.5] }\n");
  train("search.toml");
  EXPECT_TRUE(
      contains(exp({"bundle", "search", "--data", "-o", "search.tar.zst"}).output, "search search, 3 runs"));
  move_away();
  const runner::ProgramOutput verified = exp({"verify", "search.tar.zst", "-q"});
  EXPECT_TRUE(contains(verified.output, "search  equal  3 decisions recomputed")) << verified.output;
  EXPECT_EQ(std::ranges::count(verified.output, '\n'), 4) << verified.output;
}

TEST_F(Bundle, PacksTheRunsOfFreshSeedsOfASearch) {
  sandbox_.set("FAKE_SURFACE", "1");
  sandbox_.write("search.toml",
                 tiny_experiment("search") +
                     "[search]\nmethod = \"random\"\ntrials = 3\nconfirm = 1\nconfirm_seeds = 2\n"
                     "[search.space]\n\"model.dropout\" = { uniform = [0.0, 0.5] }\n");
  train("search.toml");
  const std::string fresh = json::parse(exp({"show", "search", "--json"}).output).at("confirmed").dump();
  ASSERT_TRUE(contains(fresh, "\"mean\":0.")) << fresh;
  EXPECT_TRUE(
      contains(exp({"bundle", "search", "--data", "-o", "search.tar.zst"}).output, "search search, 5 runs"));
  move_away();
  const runner::ProgramOutput verified = exp({"verify", "search.tar.zst", "-q"});
  EXPECT_EQ(std::ranges::count(verified.output, '\n'), 6) << verified.output;
  fs::create_directory(sandbox_.folder() / "open");
  for (const auto& [name, content] : Archive::load(sandbox_.folder() / "search.tar.zst").files)
    if (name == "encore.db") sandbox_.write("open/encore.db", content);
  const runner::ProgramOutput shown = exp({"show", "search", "--json", "--db", "open/encore.db"});
  EXPECT_EQ(json::parse(shown.output).at("confirmed").dump(), fresh);
}

TEST_F(Bundle, TakesAlongTheRunThatOthersStartFrom) {
  train();
  std::string text = tiny_experiment("child");
  text.replace(text.find("[model]\n"), 8, "[model]\nfrom = { run = \"tiny\" }\n");
  sandbox_.write("child.toml", text);
  train("child.toml");
  const std::string parent = id();
  EXPECT_TRUE(contains(exp({"bundle", "child", "--data", "-o", "child.tar.zst"}).output, "with     tiny, "));
  move_away();
  EXPECT_TRUE(contains(exp({"verify", "child.tar.zst", "child", "-q"}).output, "child equal: "));
  const std::vector<std::string> held = names("child.tar.zst");
  EXPECT_TRUE(std::ranges::find(held, "encore.db.runs/" + parent + "/weights.safetensors") != held.end());
}

TEST_F(Bundle, PacksTheSpoolOfARunWhoseProcessHasEnded) {
  train();
  const std::string points = sandbox_.one("SELECT count(*) FROM point");
  sandbox_.change(
      "DELETE FROM point; DELETE FROM digest; UPDATE run SET state = 'running', result = NULL, finished = "
      "NULL; "
      "UPDATE attempt SET state = 'running', process_start = 1, expires = 0, expires_uptime = 0, spool_bytes "
      "= 0, "
      "spool_records = 0, finished = NULL");
  exp({"bundle", "tiny", "--data", "-o", "tiny.tar.zst"});
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM point"), points);
  EXPECT_TRUE(contains(exp({"verify", "tiny.tar.zst", "-q"}).output, "tiny equal: 6 digests"));
}

TEST_F(Bundle, NamesThePluginThatIsNotHere) {
  const fs::path built_in = fs::path(ENCORE_BUILD_DIR) / "lib/encore/plugins";
  config::Manifest manifest = config::load_manifest(built_in / "constant_schedule.json");
  manifest.name = "mine";
  manifest.library = "mine.so";
  manifest.offers[0].name = "mine";
  sandbox_.write("plugins/mine.json", config::manifest_to_json(manifest).dump());
  fs::copy_file(built_in / "constant_schedule.so", sandbox_.folder() / "plugins/mine.so");
  sandbox_.write("plugins/mine/mine.cpp", "// a schedule\n");
  std::string text = "plugin_path = [\"plugins\"]\n" + tiny_experiment();
  text.replace(text.find("\"constant\""), 10, "\"mine\"");
  sandbox_.write("tiny.toml", text);
  train();
  exp({"bundle", "tiny", "--data", "--sources", "plugins/mine", "-o", "tiny.tar.zst"});
  const std::vector<std::string> held = names("tiny.tar.zst");
  EXPECT_TRUE(std::ranges::find(held, "sources/mine/mine.cpp") != held.end());
  // The folder is where the specification says, but a bundle must not choose code.
  const runner::ProgramOutput lacking = exp({"verify", "tiny.tar.zst"}, 2);
  EXPECT_EQ(lacking.output, "");
  EXPECT_TRUE(contains(
      lacking.errors,
      "plugin: \"mine\" 1.0.0 of run tiny; build it from its sources and pass its folder with --plugin-path"))
      << lacking.errors;
  EXPECT_TRUE(contains(exp({"verify", "tiny.tar.zst", "--plugin-path", "plugins"}).output, "tiny equal: "));
}

TEST_F(Bundle, IsAnROCrate) {
  train();
  exp({"bundle", "tiny", "-q", "-o", "plain.tar.zst"});
  const Archive plain = Archive::load(sandbox_.folder() / "plain.tar.zst");
  EXPECT_TRUE(contains(plain.metadata.dump(), "not stated"));
  EXPECT_EQ(exp({"bundle", "tiny", "-q", "--licence", "CC-BY-4.0", "--author", "Ada Lovelace", "-o",
                 "tiny.tar.zst"})
                .output,
            "");
  EXPECT_TRUE(contains(exp({"bundle", "show", "tiny.tar.zst"}).output, "; author: Ada Lovelace\n"));
  Archive archive = Archive::load(sandbox_.folder() / "tiny.tar.zst");
  const json metadata = json::parse(archive.metadata.dump());
  EXPECT_EQ(metadata.at("@context").at(0), "https://w3id.org/ro/crate/1.1/context");
  std::map<std::string, json> entities;
  for (const json& entity : metadata.at("@graph")) {
    EXPECT_TRUE(entity.contains("@type")) << entity;
    EXPECT_TRUE(entities.emplace(entity.at("@id"), entity).second) << "twice: " << entity;
  }
  const json& descriptor = entities.at("ro-crate-metadata.json");
  EXPECT_EQ(descriptor.at("@type"), "CreativeWork");
  EXPECT_EQ(descriptor.at("about").at("@id"), "./");
  EXPECT_EQ(descriptor.at("conformsTo").at("@id"), "https://w3id.org/ro/crate/1.1");
  const json& root = entities.at("./");
  EXPECT_EQ(root.at("@type"), "Dataset");
  for (const char* member : {"name", "description", "datePublished", "license", "author"})
    EXPECT_TRUE(root.contains(member)) << member;
  EXPECT_EQ(root.at("datePublished").get<std::string>().size(), 25u);
  EXPECT_EQ(entities.at(root.at("license").at("@id")).at("name"), "CC-BY-4.0");
  EXPECT_EQ(entities.at(root.at("author").at("@id")).at("name"), "Ada Lovelace");
  // Every part is described, as a File, and every file is a part.
  EXPECT_EQ(root.at("hasPart").size(), archive.files.size());
  for (const json& part : root.at("hasPart")) EXPECT_EQ(entities.at(part.at("@id")).at("@type"), "File");
  // Everything that is referred to exists.
  std::function<void(const json&)> follow = [&](const json& value) {
    if (value.is_object() && value.size() == 1 && value.contains("@id")) {
      const std::string id = value.at("@id");
      EXPECT_TRUE(entities.contains(id) || id.starts_with("https://")) << id;
    }
    if (value.is_structured())
      for (const json& inner : value) follow(inner);
  };
  follow(metadata.at("@graph"));
  const json& run = entities.at("#run-" + id());
  EXPECT_EQ(run.at("@type"), "CreateAction");
  EXPECT_EQ(run.at("object").size(), 3u);
}

TEST_F(Bundle, RefusesWhatItCannotMake) {
  EXPECT_TRUE(contains(exp({"bundle", "tiny", "-o", "tiny.tar.zst"}, 2).errors, "there is no database"));
  train();
  EXPECT_TRUE(contains(exp({"bundle", "tiny"}, 2).errors, "-o FILE.tar.zst"));
  EXPECT_TRUE(contains(exp({"bundle", "tiny", "-o", "tiny.zip"}, 2).errors, "does not end in .tar.zst"));
  EXPECT_TRUE(contains(exp({"bundle", "absent", "-o", "a.tar.zst"}, 2).errors, "absent"));
  EXPECT_TRUE(
      contains(exp({"bundle", "show", "absent.tar.zst"}, 2).errors, "there is no bundle absent.tar.zst"));
  EXPECT_TRUE(contains(exp({"bundle", "tiny", "--sources", "nowhere", "-o", "a.tar.zst"}, 2).errors,
                       "invalid --sources nowhere: expected a folder with files"));
  EXPECT_TRUE(contains(exp({"verify", "tiny", "--data", "."}, 2).errors, "--data needs a bundle"));
  EXPECT_TRUE(contains(exp({"verify", "tiny", "--build"}, 2).errors, "--build needs a bundle"));
  sandbox_.write("train.conll", "Anna B-PER\n");
  EXPECT_TRUE(contains(exp({"bundle", "tiny", "--data", "-o", "a.tar.zst"}, 2).errors,
                       "train.conll (train of run tiny) has changed since the run was planned"));
  const fs::path specification = sandbox_.folder() / "encore.db.runs" / id() / "specification.json";
  fs::rename(specification, sandbox_.folder() / "kept");
  EXPECT_TRUE(
      contains(exp({"bundle", "tiny", "-o", "a.tar.zst"}, 2).errors, "run tiny has no specification in "));
  fs::rename(sandbox_.folder() / "kept", specification);
  sandbox_.change(
      "UPDATE point SET value = 0.99 WHERE metric = (SELECT number FROM metric WHERE name = 'test/f1')");
  const runner::ProgramOutput lie = exp({"bundle", "tiny", "-o", "a.tar.zst"}, 2);
  EXPECT_TRUE(
      contains(lie.errors, "run tiny, attempt 1: a point is not what its spool says (step 20, test/f1 0.98"))
      << lie.errors;
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "a.tar.zst"));
  for (const auto& entry : fs::directory_iterator(sandbox_.folder()))
    EXPECT_NE(entry.path().extension(), ".part") << entry.path();
}

TEST_F(Bundle, BuildsOnlyWhatItIsAskedToBuild) {
  train();
  exp({"bundle", "tiny", "--data", "-o", "tiny.tar.zst"});
  EXPECT_TRUE(contains(exp({"verify", "tiny.tar.zst", "--build"}, 2).errors,
                       "no commit is recorded with these runs"));
  EXPECT_TRUE(
      contains(exp({"verify", "tiny.tar.zst", "--with-diff"}, 2).errors, "--with-diff needs --build"));
  if (!Sandbox::has("git")) GTEST_SKIP() << "the rest needs git";
  const auto git = [&](const std::string& lines) {
    const runner::ProgramOutput output = sandbox_.shell("set -e; cd own; " + lines);
    ASSERT_TRUE(output.end.success()) << output.errors;
  };
  const std::string commit = "git add . && git -c user.name=a -c user.email=b commit -qm one";
  const auto bundled = [&](const std::string& name) {
    exp({"run", "own/tiny.toml", "-q", "-S", "name=" + name, "--fresh"});
    exp({"bundle", name, "--data", "-o", name + ".tar.zst"});
  };
  // A repository that holds the file but is not an Encore.
  fs::create_directory(sandbox_.folder() / "own");
  git("git init -q; cp ../tiny.toml ../*.conll .; " + commit +
      "; sed -i 's/dropout = 0.1/dropout = 0.2/' tiny.toml");
  bundled("own");
  EXPECT_TRUE(contains(exp({"verify", "own.tar.zst", "--build", "--clone", "own"}, 2).errors,
                       "cannot verify bundles"));
  EXPECT_TRUE(
      contains(exp({"verify", "own.tar.zst", "--build"}, 2).errors, "does not have the recorded commit"));
  EXPECT_TRUE(contains(exp({"bundle", "show", "own.tar.zst", "--diff"}).output, "+dropout = 0.2"));

  // A repository that looks like an Encore, whose program prints its arguments.
  sandbox_.write("own/framework/bundle/CMakeLists.txt", "\n");
  sandbox_.write("own/exp",
                 "#!/bin/sh\nfolder=$(dirname \"$0\")/build/$2/bin\nmkdir -p \"$folder\"\n"
                 "printf '#!/bin/sh\\necho \"called: $*\"\\n' >\"$folder/exp\"\nchmod +x \"$folder/exp\"\n");
  git("git checkout -q tiny.toml; chmod +x exp; " + commit);
  bundled("clean");
  git("sed -i 's/dropout = 0.1/dropout = 0.3/' tiny.toml");
  bundled("changed");
  const runner::ProgramOutput built = exp({"verify", "clean.tar.zst", "--build", "--clone", "own", "-q"});
  EXPECT_EQ(built.output, "called: verify clean.tar.zst -q\n") << built.errors;
  // A diff is code of the bundle's author.
  const fs::path builds = sandbox_.folder() / "cache/builds";
  const auto count = [&] { return std::distance(fs::directory_iterator(builds), fs::directory_iterator()); };
  EXPECT_EQ(count(), 1);
  EXPECT_TRUE(contains(exp({"verify", "changed.tar.zst", "--build", "--clone", "own"}, 2).errors,
                       "lines from the bundle's author"));
  EXPECT_EQ(count(), 1);
  EXPECT_TRUE(contains(exp({"verify", "changed.tar.zst", "--build", "--with-diff", "--clone", "own"}).output,
                       "called: verify changed.tar.zst\n"));
  EXPECT_EQ(count(), 2);
}

}  // namespace
}  // namespace encore::system_test
