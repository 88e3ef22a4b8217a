// SPDX-License-Identifier: BSD-3-Clause
// Tests make_plan() (plan/plan.hpp), which `exp run` and `exp plan` call, on whole files: the top level,
// seeds, names, data files, and that the problems of a file are reported at once in its order, up to a limit.
// planning.hpp includes sample::experiment, the file that the tests vary. sweep_test.cpp and when_test.cpp
// test [sweep]. Experiment files must keep their meaning; the words of a problem may change.
#include "plan/plan.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "unit/plan/planning.hpp"

namespace encore::plan {
namespace {

using planning::names;
using planning::plan;
using planning::problem;
using sample::changed;

TEST(Plan, MakesOneRunOfAFileWithoutASweep) {
  const Plan planned =
      plan(changed(sample::experiment, "seed = 1", "seed = 4\nnote = \"a note\"\ntags = [\"x\"]"));
  EXPECT_EQ(planned.name, "tiny");
  EXPECT_EQ(planned.note, "a note");
  EXPECT_EQ(planned.tags, std::vector<std::string>{"x"});
  EXPECT_EQ(names(planned), std::vector<std::string>{"tiny-s4"});
  EXPECT_EQ(planned.points[0].seed, 4);
  EXPECT_EQ(planned.points[0].data.at("train").sha256, "hash-of-train.conll");
  EXPECT_TRUE(planned.points[0].data.at("dev").path.ends_with("/dir/corpus/dev.conll"));
  EXPECT_FALSE(planned.points[0].data.contains("test"));
}

TEST(Plan, AFileWithoutANameIsCalledLikeItsFile) {
  EXPECT_EQ(names(plan(changed(sample::experiment, "name = \"tiny\"\n", ""), {}, "dir/my_test.toml")),
            std::vector<std::string>{"my_test-s1"});
}

TEST(Plan, KnowsWhereNameNoteTagsAndSeedsComeFrom) {
  const Plan written = plan(changed(sample::experiment, "seed = 1", "seeds = [4, 5]\nnote = \"a note\""));
  EXPECT_EQ(written.origin.at("name").place.text(), "dir/a.toml:1:8");
  EXPECT_EQ(written.origin.at("note").place.text(), "dir/a.toml:3:8");
  EXPECT_EQ(written.origin.at("tags").source, config::Source::fallback);
  EXPECT_EQ(written.seeds.at(4).place.text(), "dir/a.toml:2:10");
  EXPECT_EQ(written.seeds.at(5).place.text(), "dir/a.toml:2:13");
  EXPECT_EQ(written.seeds.at(5).source, config::Source::file);

  const std::string bare = changed(changed(sample::experiment, "seed = 1\n", ""), "name = \"tiny\"\n", "");
  EXPECT_EQ(plan(bare).origin.at("name").source, config::Source::fallback);
  EXPECT_EQ(plan(bare).seeds.at(1).source, config::Source::fallback);
  const Plan overridden = plan(bare, {"name=other", "seed=7"});
  EXPECT_EQ(overridden.origin.at("name").source, config::Source::command_line);
  ASSERT_EQ(overridden.seeds.size(), 1U);
  EXPECT_EQ(overridden.seeds.at(7).place.text(), "-S seed=7");
}

TEST(Plan, AFolderStandsForTheFilesInIt) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / ("plan_folder_" + std::to_string(::getpid()));
  fs::create_directories(folder / "parts/within");
  for (const char* name : {"b.conll", "a.conll", ".hidden"}) std::ofstream(folder / "parts" / name) << name;
  const std::string path = (folder / "parts").string();
  const RunPoint listed = plan(sample::experiment, {"data.train=" + path}).points.at(0);
  EXPECT_EQ(listed.data.at("train").path, path + "/a.conll");
  EXPECT_EQ(listed.data.at("train.2").path, path + "/b.conll");
  EXPECT_FALSE(listed.data.contains("train.3"));
  EXPECT_EQ(listed.question,
            plan(sample::experiment, {"data.train=[\"a.conll\", \"b.conll\"]"}).points.at(0).question);
  const std::string empty = (folder / "parts/within").string();
  EXPECT_NE(problem(sample::experiment, {"data.train=" + empty})
                .find("option \"data.train\": the folder " + empty + " holds no file that could be read"),
            std::string::npos);
  fs::remove_all(folder);
}

TEST(Plan, HashesFilesThatExist) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / ("plan_files_" + std::to_string(::getpid()));
  fs::create_directories(folder / "corpus");
  std::ofstream(folder / "corpus/train.conll") << "abc";
  std::ofstream(folder / "corpus/dev.conll") << "";
  std::ofstream(folder / "a.toml") << sample::experiment;
  const Plan planned = make_plan(config::load_experiment_file(folder / "a.toml"), sample::catalogue());
  EXPECT_EQ(planned.points.at(0).data.at("train").sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  fs::remove_all(folder);
}

TEST(Plan, RefusesDataThatCannotBeRead) {
  const std::string found = problem(changed(sample::experiment, "\"dev.conll\"", "\"missing\""));
  EXPECT_EQ(found.substr(0, 35), "dir/a.toml:9:7: option \"data.dev\": ");
  EXPECT_NE(found.find("/dir/corpus/missing: cannot be read: No such file or directory"), std::string::npos)
      << found;
}

TEST(Plan, RefusesUnknownNamesAtTheTop) {
  EXPECT_EQ(problem(changed(sample::experiment, "seed = 1", "sead = 1")),
            "dir/a.toml:2:1: unknown option \"sead\" of the experiment; did you mean \"seed\"?");
  EXPECT_EQ(problem(sample::experiment + "[sweeep]\n"),
            "dir/a.toml:32:2: unknown option \"sweeep\" of the experiment; did you mean \"sweep\"?");
  EXPECT_EQ(problem(sample::experiment, {"modle.width=3"}),
            "-S modle.width=3: unknown option \"modle\" of the experiment; did you mean \"model\"?");
}

TEST(Plan, RejectsNamesNotesAndTagsThatAreTooLongAndNamesOfFolders) {
  const auto with = [](const std::string& line) {
    return problem(changed(sample::experiment, "seed = 1", "seed = 1\n" + line));
  };
  const auto named = [](const std::string& name) {
    return problem(changed(sample::experiment, "\"tiny\"", "\"" + name + "\""));
  };
  for (const std::string name : {".", ".."})
    EXPECT_EQ(named(name), "dir/a.toml:1:8: the name \"" + name +
                               "\" means a folder to every other program; take another");
  EXPECT_EQ(named("..."), "no problem");
  EXPECT_EQ(named(std::string(100, 'n')), "no problem");
  EXPECT_EQ(named(std::string(300, 'n')), "dir/a.toml:1:8: option \"name\" of the experiment has \"" +
                                              std::string(60, 'n') +
                                              "...\" with 300 bytes; at most 100 are stored with a run");
  EXPECT_EQ(with("note = \"" + std::string(70000, 'n') + "\""),
            "dir/a.toml:3:8: option \"note\" of the experiment has \"" + std::string(60, 'n') +
                "...\" with 70000 bytes; at most 65536 are stored with a run");
  std::string tags = "tags = [";
  for (int i = 0; i < 101; ++i) tags += "\"t" + std::to_string(i) + "\", ";
  EXPECT_EQ(
      with(tags + "]"),
      "dir/a.toml:3:8: option \"tags\" of the experiment has 101 words; at most 100 are stored with a run");
}

TEST(Plan, StopsAfterTooManyProblems) {
  std::string unknown = "[train]\n";
  for (int i = 0; i < 20000; ++i) unknown += "zkey" + std::to_string(i) + " = 1\n";
  const std::string sweep =
      "[sweep]\ndraws = 10000\n[sweep.random]\n\"model.dropout\" = { uniform = [0, 0.5] }\n";
  EXPECT_TRUE(problem(changed(sample::experiment, "[train]\n", unknown) + sweep)
                  .ends_with("\nand at least 950 more"));
}

TEST(Plan, ReportsItsProgress) {
  static const config::Catalogue catalogue = sample::catalogue();
  std::vector<std::pair<std::size_t, std::size_t>> seen;
  make_plan(config::parse_experiment_file(sample::experiment + "[sweep.grid]\n\"model.layers\" = [1, 2]\n",
                                          "dir/a.toml"),
            catalogue, planning::hash_of_name,
            [&](std::size_t done, std::size_t all) { seen.emplace_back(done, all); });
  EXPECT_EQ(seen, (std::vector<std::pair<std::size_t, std::size_t>>{{1, 2}, {2, 2}}));
}

TEST(Plan, SaysToWhichTableAMisplacedOptionBelongs) {
  EXPECT_EQ(problem(changed(sample::experiment, "seed = 1", "learning_rate = 1e-3")),
            "dir/a.toml:2:1: unknown option \"learning_rate\" of the experiment; it is an option of "
            "[optimizer]");
  EXPECT_EQ(problem(sample::experiment, {"heads=2"}),
            "-S heads=2: unknown option \"heads\" of the experiment; it is an option of "
            "[model.layer.attention]");
  EXPECT_EQ(problem(sample::experiment + "[sweep]\nseeds = [1, 2]\n"),
            "dir/a.toml:33:1: unknown option \"seeds\" of [sweep]; it stands at the top of the file; or did "
            "you mean \"seed\"?");
}

TEST(Plan, RejectsInvalidSeeds) {
  const auto with = [](const std::string& line) {
    return problem(changed(sample::experiment, "seed = 1", line));
  };
  EXPECT_EQ(with("seed = -1"),
            "dir/a.toml:2:8: option \"seed\" of the experiment must be at least 0, found the integer -1");
  EXPECT_EQ(
      with("seeds = []"),
      "dir/a.toml:2:9: option \"seeds\" of the experiment must be a list of integers, found an empty list");
  EXPECT_EQ(
      with("seeds = 3"),
      "dir/a.toml:2:9: option \"seeds\" of the experiment must be a list of integers, found the integer 3");
  EXPECT_EQ(with("seeds = [1, 1.5]"),
            "dir/a.toml:2:13: each of \"seeds\" must be an integer, found the number 1.5");
  EXPECT_EQ(with("seeds = [1, 2, 1]"), "dir/a.toml:2:16: \"seeds\" names 1 twice");
  EXPECT_EQ(with("seed = 1\nseeds = [1, 2]"),
            "dir/a.toml:3:1: \"seed\" and \"seeds\" say the same thing twice; keep one of them");
}

TEST(Plan, RejectsANameThatIsHardToType) {
  EXPECT_EQ(problem(changed(sample::experiment, "\"tiny\"", "\"my run/1\"")),
            "dir/a.toml:1:8: the name \"my run/1\" is part of the names of runs, which people type: only "
            "letters, digits "
            "and . _ + - may stand in it, and no - in front");
}

TEST(Plan, RefusesTheNameThatMeansAllRuns) {
  EXPECT_EQ(problem(changed(sample::experiment, "\"tiny\"", "\"all\"")),
            "dir/a.toml:1:8: no run can be called \"all\": where runs are named, it means all of them");
}

TEST(Plan, RefusesALayerTableThatNoRunUses) {
  EXPECT_EQ(problem(changed(sample::experiment, "[model.head]",
                            "[model.layer.attenton]\ntype = \"alibi_attention\"\n[model.head]")),
            "dir/a.toml:22:14: no run uses the table [model.layer.attenton]: \"block\" and \"norm\" of "
            "[model] do not name "
            "it; did you mean \"attention\"?");
}

TEST(Plan, ALayerTableThatOnePointUsesIsFine) {
  const std::string text = changed(sample::experiment, "[model.head]",
                                   "[model.layer.other]\ntype = \"alibi_attention\"\n[model.head]");
  EXPECT_EQ(plan(text + "[sweep.grid]\n\"model.block\" = [[\"attention\", \"feed_forward\"], [\"other\", "
                        "\"feed_forward\"]]\n")
                .points.size(),
            2U);
}

TEST(Plan, ReportsAllProblemsInTheOrderOfTheFile) {
  std::string text = changed(sample::experiment, "seed = 1", "sead = 1");
  text = changed(changed(text, "width = 8", "width = \"eight\""), "epochs = 3", "epochs = 0");
  EXPECT_EQ(problem(text),
            "dir/a.toml:2:1: unknown option \"sead\" of the experiment; did you mean \"seed\"?\n"
            "dir/a.toml:13:9: option \"width\" of [model] must be an integer, found text \"eight\"\n"
            "dir/a.toml:31:10: option \"epochs\" of [train] is 0, which imports the model of a folder, "
            "but model.from is missing; set it, or train for at least 1 epoch");
}

}  // namespace
}  // namespace encore::plan
