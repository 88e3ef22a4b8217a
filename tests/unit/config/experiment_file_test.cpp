// SPDX-License-Identifier: BSD-3-Clause
// Tests load_experiment_file() (config/experiment_file.hpp): an experiment file merged with its base files
// and with the overrides of the command line (-S KEY=VALUE), the parsing of an override (parse_override()),
// and the search for plugin folders. What follows is resolve() (resolve_test.cpp). The rules by which the
// nearer file wins decide what existing experiment files mean, so they must not change.
#include "config/experiment_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace encore::config {
namespace {

namespace fs = std::filesystem;

class ExperimentFileTest : public ::testing::Test {
 protected:
  ExperimentFileTest() {
    folder_ = fs::path(::testing::TempDir()) /
              ("experiment_file_" + std::to_string(::getpid()) + "_" +
               std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "bases");
  }
  ~ExperimentFileTest() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  /// Returns the messages with which the file is rejected.
  static std::string problem(const fs::path& file, const std::vector<std::string>& overrides = {},
                             const SweepTexts& sweep = {}) {
    try {
      load_experiment_file(file, overrides, sweep);
    } catch (const ConfigErrors& errors) {
      return errors.what();
    }
    return "no problem";
  }

  fs::path folder_;
};

TEST_F(ExperimentFileTest, TheNearerFileWins) {
  write("bases/base.toml",
        "name = \"base\"\nseeds = [1, 2]\n[model]\nwidth = 8\nlayers = 2\n[sweep.grid]\na.b = [1]\n");
  const fs::path file =
      write("near.toml", "base = \"bases/base.toml\"\nseed = 3\n[model]\nwidth = 16\n[sweep]\ndraws = 2\n");
  const ExperimentFile experiment = load_experiment_file(file);
  EXPECT_EQ(to_text(experiment.root), "{model = {width = 16, layers = 2}, seed = 3, sweep = {draws = 2}}");
  EXPECT_EQ(experiment.root.at({"model", "layers"})->origin.place.text(), at("bases/base.toml") + ":5:10");
  EXPECT_EQ(experiment.root.at({"model", "width"})->origin.place.text(), at("near.toml") + ":4:9");
  // The sources keep the contents as they were read, so that a program can plan the file again.
  ASSERT_EQ(experiment.sources.size(), 2U);
  EXPECT_EQ(experiment.sources[0].file, file.string());
  EXPECT_TRUE(experiment.sources[0].text.starts_with("base = "));
  EXPECT_EQ(experiment.sources[1].file, at("bases/base.toml"));
  EXPECT_TRUE(experiment.sources[1].text.starts_with("name = \"base\""));
}

TEST_F(ExperimentFileTest, ATableOfAnotherTypeReplacesThatOfTheBase) {
  write("base.toml",
        "[optimizer]\ntype = \"adamw\"\nbeta1 = 0.8\n[schedule]\ntype = \"linear\"\nwarmup_steps = 3\n");
  const fs::path file = write(
      "near.toml", "base = \"base.toml\"\n[optimizer]\ntype = \"sgd\"\n[schedule]\ntype = \"linear\"\n");
  EXPECT_EQ(to_text(load_experiment_file(file).root),
            "{optimizer = {type = sgd}, schedule = {type = linear, warmup_steps = 3}}");
}

TEST_F(ExperimentFileTest, BasesInheritToo) {
  write("a.toml", "[train]\nepochs = 1\npatience = 1\n");
  write("bases/b.toml", "base = \"../a.toml\"\n[train]\nepochs = 2\n");
  EXPECT_EQ(to_text(load_experiment_file(write("c.toml", "base = \"bases/b.toml\"\n")).root),
            "{train = {epochs = 2, patience = 1}}");
}

TEST_F(ExperimentFileTest, TheLaterOfTwoWaysToSayOneThingCounts) {
  write("base.toml", "seeds = [1, 2]\n[train]\nepochs = 1\nbatch_size = 4\n");
  const fs::path near = write("near.toml", "base = \"base.toml\"\nseed = 3\n[train]\nsteps = 2\n");
  ExperimentFile file = load_experiment_file(near, {"train.batch_tokens=64"});
  Problems problems;
  apply_overrides(file.root, file.overrides, problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(to_text(file.root), "{train = {steps = 2, batch_tokens = 64}, seed = 3}");
  write("base.toml", "[train]\nsteps = 1\nbatch_tokens = 64\n");
  EXPECT_EQ(to_text(load_experiment_file(write("near.toml",
                                               "base = \"base.toml\"\n[train]\nepochs = 2\n"
                                               "batch_size = 8\n"))
                        .root),
            "{train = {epochs = 2, batch_size = 8}}");
  write("base.toml", "[data]\ndev = \"dev.txt\"\ntest = \"test.txt\"\n");
  EXPECT_EQ(
      to_text(load_experiment_file(write("near.toml", "base = \"base.toml\"\n[data]\nsplit = [0.9, 0.1]\n"))
                  .root),
      "{data = {test = test.txt, split = [0.9, 0.1]}}");
}

TEST_F(ExperimentFileTest, RefusesTwoWaysToSayOneThingInOneCommandLine) {
  const fs::path file = write("a.toml", "[train]\nepochs = 1\n");
  EXPECT_EQ(problem(file, {"train.steps=7", "train.epochs=3"}),
            "-S train.steps=7: this and -S train.epochs=3 set the same; keep one of "
            "them");
  EXPECT_EQ(problem(file, {"train.epochs=3", "train.steps=7"}),
            problem(file, {"train.steps=7", "train.epochs=3"}));
  EXPECT_NE(problem(file, {"train.batch_size=3", "train.batch_tokens=7"}), "no problem");
  EXPECT_NE(problem(file, {"seed=3"}, {.grid = {}, .seeds = "1-2"}), "no problem");
  EXPECT_EQ(problem(file, {"train.steps=7", "train.batch_size=3", "train.steps=8"}), "no problem")
      << "the last override of an option counts";
}

TEST_F(ExperimentFileTest, RefusesABaseThatInheritsItself) {
  write("a.toml", "base = \"b.toml\"\n");
  const fs::path file = write("b.toml", "\nbase = \"a.toml\"\n");
  EXPECT_EQ(problem(file),
            at("a.toml") + ":1:8: the base file \"" + at("b.toml") + "\" inherits from itself");
  EXPECT_EQ(problem(write("c.toml", "base = \"c.toml\"\n")),
            at("c.toml") + ":1:8: the base file \"" + at("c.toml") + "\" inherits from itself");
}

TEST_F(ExperimentFileTest, RefusesAFileThatCannotBeRead) {
  EXPECT_EQ(problem(folder_ / "none.toml"),
            at("none.toml") +
                ": the experiment file cannot be read: there is no such file; check the path and "
                "the folder it is relative to");
  EXPECT_EQ(problem(folder_),
            folder_.string() + ": the experiment file cannot be read: it is a folder; name a file");
  EXPECT_EQ(problem(write("a.toml", "base = \"none.toml\"\n")),
            at("a.toml") + ":1:8: the base file \"" + at("none.toml") +
                "\" cannot be read: there is no such file; check the path and the folder it is relative to");
  EXPECT_EQ(problem(write("b.toml", "base = 3\n")),
            at("b.toml") + ":1:8: option \"base\" must be a path in quotes, found the integer 3");
}

TEST_F(ExperimentFileTest, NeitherWaitsForAPipeNorReadsADevice) {
  ASSERT_EQ(::mkfifo(at("pipe.toml").c_str(), 0600), 0);
  EXPECT_EQ(problem(folder_ / "pipe.toml"),
            at("pipe.toml") +
                ": the experiment file cannot be read: it is a pipe, which may never end; write "
                "what comes through it to a file, and name that");
  EXPECT_EQ(
      problem(write("a.toml", "base = \"pipe.toml\"\n")),
      at("a.toml") + ":1:8: the base file \"" + at("pipe.toml") +
          "\" cannot be read: it is a pipe, which may never end; write what comes through it to a file, "
          "and name that");
  EXPECT_EQ(problem(write("b.toml", "base = \"/dev/zero\"\n")),
            at("b.toml") +
                ":1:8: the base file \"/dev/zero\" cannot be read: it is a device, which may never "
                "end; name a file");
}

TEST_F(ExperimentFileTest, RefusesWhatIsTooLongForAnExperiment) {
  fs::resize_file(write("a.toml", ""), (std::uintmax_t{4} << 20) + 1);
  EXPECT_EQ(problem(folder_ / "a.toml"), at("a.toml") +
                                             ": the experiment file cannot be read: it is longer than "
                                             "the 4 MiB that such a file may have");
}

TEST_F(ExperimentFileTest, RefusesAnEndlessChainOfBases) {
  for (int i = 0; i < 150; ++i)
    write("chain" + std::to_string(i) + ".toml", "base = \"chain" + std::to_string(i + 1) + ".toml\"\n");
  EXPECT_EQ(problem(folder_ / "chain0.toml"),
            at("chain100.toml") + ":1:8: more than 100 files inherit from each other");
}

TEST_F(ExperimentFileTest, RefusesABaseWithANulInItsPath) {
  EXPECT_EQ(
      problem(write("a.toml", "base = \"b.toml\\u0000x\"\n")),
      at("a.toml") + ":1:8: option \"base\" holds the character U+0000, which text and paths cannot have");
}

TEST_F(ExperimentFileTest, ALongOverrideIsRefusedBriefly) {
  std::string key = "a";
  for (int i = 1; i < 60000; ++i) key += ".a";
  const std::string found = problem(write("a.toml", ""), {key + "=1"});
  EXPECT_NE(found.find("has more than the 100 parts that the name of an option may have"), std::string::npos);
  EXPECT_LT(found.size(), 1000U);
}

TEST_F(ExperimentFileTest, OverridesAreTomlOrText) {
  EXPECT_EQ(describe(parse_override("model.width=3").value), "the integer 3");
  EXPECT_EQ(describe(parse_override("a=1e-5").value), "the number 1e-5");
  EXPECT_EQ(describe(parse_override("a=true").value), "true");
  EXPECT_EQ(describe(parse_override("optimizer.type=sgd").value), "text \"sgd\"");
  EXPECT_EQ(describe(parse_override("a=\"3\"").value), "text \"3\"");
  EXPECT_EQ(describe(parse_override("a=").value), "text \"\"");
  EXPECT_EQ(describe(parse_override("train.select=max dev/f1").value), "text \"max dev/f1\"");
  EXPECT_EQ(to_text(parse_override("optimizer={type = \"sgd\", momentum = 0.9}").value),
            "{type = sgd, momentum = 0.9}");
  EXPECT_EQ(describe(parse_override("a=1\nb = 2").value), "text \"1\nb = 2\"");
}

TEST_F(ExperimentFileTest, AnOverrideSaysThatItIsOne) {
  const Override set = parse_override("model.width=3");
  EXPECT_EQ(set.key, "model.width");
  EXPECT_EQ(set.value.origin.source, Source::command_line);
  EXPECT_EQ(set.value.origin.place.text(), "-S model.width=3");
}

TEST_F(ExperimentFileTest, ASeedOfTheCommandLineReplacesSeeds) {
  ExperimentFile experiment = parse_experiment_file("seeds = [1, 2]\n", "a.toml", {"seed=7"});
  Problems problems;
  apply_overrides(experiment.root, experiment.overrides, problems);
  EXPECT_EQ(to_text(experiment.root), "{seed = 7}");
}

TEST_F(ExperimentFileTest, RefusesAnOverrideThatSetsNothing) {
  const fs::path file = write("a.toml", "");
  EXPECT_EQ(problem(file, {"model.width"}), "-S model.width: expected key=value, as in model.width=256");
  EXPECT_EQ(problem(file, {"=3"}), "-S =3: expected key=value, as in model.width=256");
  EXPECT_EQ(
      problem(file, {"model width=3"}),
      "-S model width=3: \"model width\" is not the name of an option: expected a name such as model.width");
}

TEST_F(ExperimentFileTest, RefusesAnOverrideThroughAValue) {
  ExperimentFile experiment = parse_experiment_file("[model]\nwidth = 3\n", "a.toml", {"model.width.x=7"});
  Problems problems;
  apply_overrides(experiment.root, experiment.overrides, problems);
  ASSERT_EQ(problems.all().size(), 1U);
  EXPECT_EQ(problems.all()[0].text(),
            "-S model.width.x=7: \"model.width.x\" goes through a value that is not a table");
}

TEST_F(ExperimentFileTest, FindsPluginFolders) {
  const ExperimentFile experiment = load_experiment_file(write("a.toml", "plugin_path = [\"bases\"]\n"));
  EXPECT_EQ(plugin_folders(experiment), std::vector<fs::path>{folder_ / "bases"});
  EXPECT_TRUE(plugin_folders(parse_experiment_file("", "a.toml")).empty());
}

TEST_F(ExperimentFileTest, RejectsInvalidPluginFolders) {
  const auto refused = [&](const std::string& text) -> std::string {
    try {
      plugin_folders(load_experiment_file(write("a.toml", text)));
    } catch (const ConfigErrors& errors) {
      return errors.what();
    }
    return "no problem";
  };
  EXPECT_EQ(
      refused("plugin_path = [\"nowhere\"]\n"),
      at("a.toml") + ":1:16: option \"plugin_path\" names \"" + at("nowhere") + "\", which is not a folder");
  EXPECT_EQ(
      refused("plugin_path = \"bases\"\n"),
      at("a.toml") + ":1:15: option \"plugin_path\" must be a list of text in quotes, found text \"bases\"");
}

}  // namespace
}  // namespace encore::config
