// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp run --grid` and --seeds, which make_plan() (plan/plan.hpp) merges with the file: the options
// that the command line varies, alone and together with a sweep of the file. A run must have the same
// question (the text of all that its bits depend on, which identifies it) whether the file or the command
// line asks for it. Messages are compared in full, because users read them; their words may change with the
// test.
#include <gtest/gtest.h>

#include "unit/plan/planning.hpp"

namespace encore::plan {
namespace {

using planning::names;
using Names = std::vector<std::string>;

Plan plan(const std::string& sweep, const config::SweepTexts& arguments,
          const std::vector<std::string>& set = {}) {
  return planning::plan(sample::experiment + sweep, set, "dir/a.toml", arguments);
}

std::string problem(const config::SweepTexts& arguments, const std::string& sweep = "",
                    const std::vector<std::string>& set = {}) {
  return planning::problem(sample::experiment + sweep, set, arguments);
}

config::SweepTexts grid(const std::string& text) {
  return {.grid = {text}};
}

config::SweepTexts seeds(const std::string& text) {
  return {.seeds = text};
}

TEST(Arguments, CrossSeedsAndValuesOfAFileWithoutASweep) {
  const Plan planned = plan("", {.grid = {"model.layers=2,4"}, .seeds = "1-2"});
  EXPECT_EQ(names(planned),
            (Names{"tiny-layers=2-s1", "tiny-layers=2-s2", "tiny-layers=4-s1", "tiny-layers=4-s2"}));
  EXPECT_EQ(planned.points[3].config["model"]["layers"], 4);
  EXPECT_EQ(planned.points[0].origin.at("model.layers").source, config::Source::command_line);
  EXPECT_EQ(planned.points[0].origin.at("model.layers").place.text(), "--grid model.layers=2,4");
  EXPECT_EQ(planned.seeds.at(2).place.text(), "--seeds 1-2");
}

TEST(Arguments, AcceptValuesAsTheOptionSDoesAlsoListsAndTables) {
  EXPECT_EQ(names(plan("", grid("train.precision=float32, bfloat16"))),
            (Names{"tiny-float32-s1", "tiny-bfloat16-s1"}));
  const Plan planned = plan("", grid("model.layer.attention={type = \"self_attention\", heads = 2},"
                                     "{type = \"alibi_attention\"}"));
  ASSERT_EQ(planned.points.size(), 2U);
  EXPECT_EQ(names(planned), (Names{"tiny-self_attention-s1", "tiny-alibi_attention-s1"}));
  EXPECT_EQ(planned.points[0].config["model"]["layer"]["attention"]["heads"], 2);
  EXPECT_EQ(names(plan("", grid("model.block=[\"attention\"],[\"attention\",\"feed_forward\"]"))).size(), 2U)
      << "commas within brackets do not separate values";
}

TEST(Arguments, AreCrossedWithTheSweepOfTheFile) {
  const std::string sweep = "[sweep.grid]\n\"model.dropout\" = [0.1, 0.3]\n";
  EXPECT_EQ(names(plan(sweep, grid("model.layers=2,4"))),
            (Names{"tiny-dropout=0.1-layers=2-s1", "tiny-dropout=0.1-layers=4-s1",
                   "tiny-dropout=0.3-layers=2-s1", "tiny-dropout=0.3-layers=4-s1"}));
  const Plan two = plan(sweep, {.grid = {"model.layers=2", "train.epochs=1,2"}});
  EXPECT_EQ(two.points.size(), 4U);
}

TEST(Arguments, TakeThePlaceOfValuesOfTheFile) {
  EXPECT_EQ(names(plan("[sweep.grid]\n\"model.layers\" = [1, 2, 3]\n", grid("model.layers=8"))),
            (Names{"tiny-layers=8-s1"}));
  EXPECT_EQ(names(plan("[[sweep.zip]]\n\"model.layers\" = [1, 2]\n\"model.dropout\" = [0.1, 0.2]\n",
                       grid("model.layers=8"))),
            (Names{"tiny-layers=8-dropout=0.1-s1", "tiny-layers=8-dropout=0.2-s1"}));
  EXPECT_EQ(names(plan("[sweep]\ndraws = 3\n[sweep.random]\n\"model.dropout\" = { uniform = [0.1, 0.2] }\n",
                       grid("model.dropout=0.5"))),
            (Names{"tiny-dropout=0.5-s1"}));
}

TEST(Arguments, KeepTheConditionsOfTheFile) {
  const std::string sweep =
      "[sweep]\nexclude = [\"model.layers == 4\"]\n[sweep.grid]\n\"model.layers\" = [1, 2]\n"
      "\"model.groups\" = [0, 1]\n[sweep.when]\n\"model.groups\" = \"model.layers > 2\"\n";
  EXPECT_EQ(names(plan(sweep, {.grid = {"model.layers=2,3,4", "model.groups=1,2"}})),
            (Names{"tiny-layers=2-s1", "tiny-layers=3-groups=1-s1", "tiny-layers=3-groups=2-s1"}));
}

TEST(Arguments, SeedsTakeThePlaceOfSeedAndSeeds) {
  EXPECT_EQ(names(plan("", seeds("1,4,7-9"))),
            (Names{"tiny-s1", "tiny-s4", "tiny-s7", "tiny-s8", "tiny-s9"}));
  const std::string own = sample::changed(sample::experiment, "seed = 1\n", "seeds = [5, 6]\n");
  EXPECT_EQ(names(planning::plan(own, {}, "dir/a.toml", seeds("3"))), (Names{"tiny-s3"}));
}

TEST(Arguments, GiveTheQuestionsOfTheSameSweepInAFile) {
  const Plan file = plan("[sweep.grid]\n\"model.layers\" = [2, 4]\n", {});
  const Plan arguments = plan("", grid("model.layers=2,4"));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(file.points[i].question, arguments.points[i].question);
    EXPECT_EQ(file.points[i].name, arguments.points[i].name);
  }
}

TEST(Arguments, RejectsAnInvalidGrid) {
  EXPECT_EQ(problem(grid("model.layers")),
            "--grid model.layers: expected key=value,value, as in model.layers=2,4");
  EXPECT_EQ(problem(grid("model.layers=2,,4")),
            "--grid model.layers=2,,4: a value is empty: expected key=value,value, as in model.layers=2,4");
  EXPECT_EQ(
      problem(grid("model.layers=2,2")),
      "--grid model.layers=2,2: \"model.layers\" of --grid: 2 stands twice in the list; keep one of them");
  EXPECT_EQ(problem(grid("modle.layers=2")),
            "--grid modle.layers=2: --grid cannot vary \"modle.layers\"; did you mean \"model\"?");
  EXPECT_EQ(problem(grid("seed=1,2")), "--grid seed=1,2: --grid cannot vary \"seed\"; give --seeds 1-3");
  EXPECT_EQ(problem(grid("model.layers=two")),
            "--grid model.layers=two: option \"layers\" of [model] must be an integer, found text \"two\"");
  EXPECT_EQ(problem({.grid = {"model.layers=2", "model.layers=3"}}),
            "--grid model.layers=3: \"model.layers\" is varied twice; see --grid model.layers=2");
  EXPECT_EQ(
      problem(grid("model.layers=2,4"), "", {"model.layers=6"}),
      "--grid model.layers=2,4: \"model.layers\" is varied here and set by -S model.layers=6; keep one of "
      "them");
}

TEST(Arguments, RejectsInvalidSeeds) {
  const std::string what = ": expected whole numbers from 0 and ranges of them, as in 1-5 or 1,4,7-9";
  EXPECT_EQ(problem(seeds("x")), "--seeds x: \"x\" is not a seed" + what);
  EXPECT_EQ(problem(seeds("")), "--seeds : \"\" is not a seed" + what);
  EXPECT_EQ(problem(seeds("1-")), "--seeds 1-: \"\" is not a seed" + what);
  EXPECT_EQ(problem(seeds("-3")), "--seeds -3: \"-3\" is not a seed" + what);
  EXPECT_EQ(problem(seeds("5-1")), "--seeds 5-1: 5-1 is in descending order; write 1-5");
  EXPECT_EQ(problem(seeds("1,1")), "--seeds 1,1: \"seeds\" names 1 twice");
  EXPECT_EQ(problem(seeds("0-9000000000000000000")),
            "--seeds 0-9000000000000000000: too many seeds: expected at most 100000");
}

TEST(Arguments, RejectsTooManyRuns) {
  EXPECT_EQ(problem({.grid = {"model.layers=1,2"}, .seeds = "1-90000"}),
            "--grid model.layers=1,2: sweep and seeds ask for more than 100000 runs");
}

}  // namespace
}  // namespace encore::plan
