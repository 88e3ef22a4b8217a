// SPDX-License-Identifier: BSD-3-Clause
// Tests [sweep.when] (plan/conditional_option.hpp): options that only some points of a sweep vary, how many
// points that leaves, and the messages for invalid conditions. Experiment files contain such tables, so a
// valid one must keep its meaning; messages may change.
#include <gtest/gtest.h>

#include "plan/conditional_option.hpp"
#include "unit/plan/planning.hpp"

namespace encore::plan {
namespace {

using planning::names;
using planning::plan;

using Names = std::vector<std::string>;

const std::string two_optimizers =
    "optimizer = [{ type = \"adamw\", learning_rate = 1e-3 }, { type = \"sgd\", learning_rate = 0.1 }]\n";
const std::string decay_of_adamw =
    "[sweep.when]\n\"optimizer.weight_decay\" = \"optimizer.type == 'adamw'\"\n";

TEST(When, AGridVariesAnOptionOnlyWhereItsConditionHolds) {
  const Plan planned = plan(planning::swept("[sweep.grid]\n" + two_optimizers +
                                            "\"optimizer.weight_decay\" = [0.0, 0.1]\n" + decay_of_adamw));
  EXPECT_EQ(names(planned),
            (Names{"tiny-adamw-weight_decay=0-s1", "tiny-adamw-weight_decay=0.1-s1", "tiny-sgd-s1"}));
  EXPECT_EQ(planned.alike_by_when, 1U) << "two points of sgd, which became the same";
  EXPECT_EQ(planned.duplicates, 0U);
  EXPECT_EQ(planned.points[1].config["optimizer"]["weight_decay"], 0.1);
  EXPECT_FALSE(planned.points[2].config["optimizer"].contains("weight_decay"));
  EXPECT_EQ(planned.points[2].varied.size(), 1U);
}

TEST(When, AZipLeavesOutOneOfItsOptions) {
  const Plan planned = plan(
      planning::swept("[[sweep.zip]]\n\"model.layers\" = [2, 4, 6]\n\"model.dropout\" = [0.2, 0.3, 0.4]\n"
                      "[sweep.when]\nmodel.dropout = \"model.layers >= 4\"\n"));
  EXPECT_EQ(names(planned),
            (Names{"tiny-layers=2-s1", "tiny-layers=4-dropout=0.3-s1", "tiny-layers=6-dropout=0.4-s1"}));
  EXPECT_EQ(planned.points[0].config["model"]["dropout"], 0.1) << "the default stays";
  EXPECT_EQ(planned.points[0].origin.at("model.dropout").source, config::Source::fallback);
}

TEST(When, DrawsThatLeaveOutTheirOptionAreOneRun) {
  const std::string draws = "[sweep]\ndraws = 4\n[sweep.grid]\n" + two_optimizers +
                            "[sweep.random]\n\"optimizer.weight_decay\" = { log_uniform = [1e-4, 1e-1] }\n";
  const Plan planned = plan(planning::swept(draws + decay_of_adamw));
  ASSERT_EQ(planned.points.size(), 5U);
  EXPECT_EQ(planned.points[4].name, "tiny-sgd-s1");
  const Plan unguarded = plan(planning::swept(
      "[sweep]\ndraws = 4\n[sweep.random]\n\"optimizer.weight_decay\" = { log_uniform = [1e-4, 1e-1] }\n"));
  EXPECT_EQ(planned.points[2].config["optimizer"]["weight_decay"],
            unguarded.points[2].config["optimizer"]["weight_decay"])
      << "a condition changes no draw";
}

TEST(When, CountsPointsAndEachForItsOwnReason) {
  const Plan planned = plan(sample::changed(
      planning::swept("[sweep]\nexclude = [\"train.epochs == 9\"]\n[sweep.grid]\n" + two_optimizers +
                      "\"optimizer.weight_decay\" = [0.0, 0.1, 0.2]\n[[sweep.zip]]\n"
                      "\"train.epochs\" = [2, 2, 9]\n" +
                      decay_of_adamw),
      "seed = 1\n", "seeds = [1, 2, 3, 4, 5]\n"));
  EXPECT_EQ(planned.points.size(), 4U * 5U) << "18 points, of which give runs three of adamw and one of sgd";
  EXPECT_EQ(planned.excluded, 6U);
  EXPECT_EQ(planned.alike_by_when, 5U) << "sgd";
  EXPECT_EQ(planned.duplicates, 3U) << "adamw, whose points leave out nothing";
}

TEST(When, TheFilesOwnValueStays) {
  const Plan planned = plan(sample::changed(
      planning::swept("[sweep.grid]\n\"model.layers\" = [2, 4]\n\"train.batch_size\" = [8, 16]\n"
                      "[sweep.when]\n\"train.batch_size\" = \"model.layers == 4\"\n"),
      "epochs = 3\n", "epochs = 3\nbatch_size = 5\n"));
  EXPECT_EQ(names(planned),
            (Names{"tiny-layers=2-s1", "tiny-layers=4-batch_size=8-s1", "tiny-layers=4-batch_size=16-s1"}));
  EXPECT_EQ(planned.points[0].config["train"]["batch_size"], 5);
  EXPECT_EQ(planned.points[0].origin.at("train.batch_size").place.text(), "dir/a.toml:32:14");
}

TEST(When, AnOptionOfOneOfSeveralWholeTables) {
  const Plan planned =
      plan(planning::swept("[sweep.grid]\n\"model.layer.attention\" = [{ type = \"self_attention\" }, "
                           "{ type = \"sliding_window_attention\", window = 8 }]\n"
                           "\"model.layer.attention.window\" = [16, 32]\n"
                           "[sweep.when]\n\"model.layer.attention.window\" = "
                           "\"model.layer.attention.type == 'sliding_window_attention'\"\n"));
  EXPECT_EQ(names(planned), (Names{"tiny-self_attention-s1", "tiny-sliding_window_attention-window=16-s1",
                                   "tiny-sliding_window_attention-window=32-s1"}));
  EXPECT_EQ(planned.points[2].config["model"]["layer"]["attention"]["window"], 32);
}

TEST(When, AConditionMayReadAnOptionThatIsItselfConditional) {
  const Plan planned = plan(planning::swept(
      "[sweep.grid]\n\"model.layers\" = [2, 4]\n\"model.groups\" = [0, 1]\n\"model.dropout\" = [0.2, 0.3]\n"
      "[sweep.when]\n\"model.dropout\" = \"model.groups == 1\"\n\"model.groups\" = \"model.layers == 4\"\n"));
  EXPECT_EQ(names(planned),
            (Names{"tiny-layers=2-s1", "tiny-layers=4-groups=0-s1", "tiny-layers=4-groups=1-dropout=0.2-s1",
                   "tiny-layers=4-groups=1-dropout=0.3-s1"}));
}

TEST(When, ExclusionsSeeWhatIsLeft) {
  const Plan planned = plan(planning::swept(
      "[sweep]\nexclude = [\"train.batch_size == 16\"]\n[sweep.grid]\n\"model.layers\" = [2, 4]\n"
      "\"train.batch_size\" = [16, 8]\n[sweep.when]\n\"train.batch_size\" = \"model.layers == 4\"\n"));
  EXPECT_EQ(names(planned), (Names{"tiny-layers=2-s1", "tiny-layers=4-batch_size=8-s1"}));
  EXPECT_EQ(planned.excluded, 1U);
}

TEST(When, TheCommandLineTakesAnOptionAndItsConditionOut) {
  const std::string sweep = "[sweep.grid]\n" + two_optimizers + "\"optimizer.weight_decay\" = [0.0, 0.1]\n";
  EXPECT_EQ(names(plan(planning::swept(sweep + decay_of_adamw),
                       {"optimizer={type = \"sgd\", learning_rate = 1.0}"})),
            Names{"tiny-s1"});
  EXPECT_EQ(names(plan(planning::swept("[sweep.grid]\n\"model.layers\" = [2, 4]\n\"train.epochs\" = [1, 2]\n"
                                       "[sweep.when]\n\"train.epochs\" = \"model.layers == 4\"\n"),
                       {"model.layers=2"})),
            Names{"tiny-s1"})
      << "a condition that the command line leaves unmet is not a mistake";
}

TEST(When, NamesAreTheSameWhetherAnOptionAppliesOrNot) {
  const Plan planned = plan(planning::swept(
      "[sweep.grid]\n\"model.layer.attention.dropout\" = [0.2, 0.4]\n\"model.dropout\" = [0.3]\n"
      "[sweep.when]\n\"model.dropout\" = \"model.layer.attention.dropout > 0.3\"\n"));
  EXPECT_EQ(names(planned),
            (Names{"tiny-attention.dropout=0.2-s1", "tiny-attention.dropout=0.4-model.dropout=0.3-s1"}));
}

TEST(When, RefusesOptionsThatAreNotVaried) {
  const std::string grid = "[sweep.grid]\n\"model.layers\" = [2, 4]\n[sweep.when]\n";
  EXPECT_EQ(
      planning::problem_of_sweep(grid + "\"model.layrs\" = \"true\"\n"),
      "dir/a.toml:35:1: [sweep.when] names \"model.layrs\", which the sweep does not vary; did you mean "
      "\"model.layers\"?");
  EXPECT_EQ(
      planning::problem_of_sweep(grid + "\"optimizer.weight_decay\" = \"true\"\n"),
      "dir/a.toml:35:1: [sweep.when] names \"optimizer.weight_decay\", which the sweep does not vary; it "
      "varies \"model.layers\"");
  EXPECT_EQ(planning::problem_of_sweep("[sweep.when]\n\"model.layers\" = \"true\"\n"),
            "dir/a.toml:33:1: [sweep.when] names \"model.layers\", which the sweep does not vary");
  EXPECT_EQ(planning::problem_of_sweep(grid + "\"model layers\" = \"true\"\n"),
            "dir/a.toml:35:1: \"model layers\" is not the name of an option: expected a name such as "
            "model.width (in "
            "[sweep.when])");
  EXPECT_EQ(planning::problem_of_sweep(grid +
                                       "\"model.layers\" = \"train.epochs == 3\"\nmodel.layers = \"true\"\n"),
            "dir/a.toml:36:7: [sweep.when] names \"model.layers\" twice; join with &&");
}

TEST(When, RejectsAnInvalidCondition) {
  const std::string grid = "[sweep.grid]\n\"model.layers\" = [2, 4]\n[sweep.when]\n\"model.layers\" = ";
  EXPECT_EQ(planning::problem_of_sweep(grid + "true\n"),
            "dir/a.toml:35:18: \"model.layers\" of [sweep.when] must be a condition in quotes, found true; "
            "write it "
            "as in \"optimizer.type == 'adamw'\"");
  EXPECT_EQ(
      planning::problem_of_sweep(grid + "\"train.epochs = 3\"\n"),
      "dir/a.toml:35:18: when \"train.epochs = 3\": expected ==, !=, <, <=, >, >=, && or || at character 14, "
      "found \"= 3\"");
  EXPECT_EQ(planning::problem_of_sweep(grid + "\"train.epoch == 3\"\n"),
            "dir/a.toml:35:18: when \"train.epoch == 3\": no run has an option \"train.epoch\"; did you mean "
            "\"train.epochs\"?");
  EXPECT_EQ(
      planning::problem_of_sweep(grid + "\"train.epochs == 'three'\"\n"),
      "dir/a.toml:35:18: when \"train.epochs == 'three'\": \"train.epochs\" is a number, \"three\" is text: "
      "they cannot be compared with ==");
  EXPECT_EQ(planning::problem_of_sweep("[sweep]\nwhen = \"true\"\n"),
            "dir/a.toml:33:8: [sweep.when] must be a table, found text \"true\"");
}

TEST(When, RefusesAConditionThatNeverHolds) {
  EXPECT_EQ(planning::problem_of_sweep(
                "[sweep.grid]\n" + two_optimizers +
                "\"optimizer.weight_decay\" = [0.0, 0.1]\n[sweep.when]\n\"optimizer.weight_decay\" = "
                "\"optimizer.type == 'adam'\"\n"),
            "dir/a.toml:36:28: when \"optimizer.type == 'adam'\": holds in no point of the sweep, so "
            "\"optimizer.weight_decay\" would never be varied; correct the condition, or remove the option "
            "from the sweep");
}

TEST(When, RefusesConditionsInACircle) {
  const std::string grid =
      "[sweep.grid]\n\"model.layers\" = [2, 4]\n\"model.groups\" = [0, 1]\n\"train.epochs\" = [1, "
      "2]\n[sweep.when]\n";
  EXPECT_EQ(planning::problem_of_sweep(grid + "\"model.layers\" = \"model.layers > 2\"\n"),
            "dir/a.toml:37:18: when \"model.layers > 2\": \"model.layers\" asks about itself");
  EXPECT_EQ(
      planning::problem_of_sweep(
          grid + "\"model.layers\" = \"model.groups == 1\"\n\"model.groups\" = \"train.epochs == 1\"\n"
                 "\"train.epochs\" = \"model.layers == 4\"\n"),
      "dir/a.toml:37:18: when \"model.groups == 1\": the conditions depend on each other in a circle: "
      "\"model.layers\" asks about \"model.groups\" asks about \"train.epochs\" asks about \"model.layers\"");
  EXPECT_EQ(
      planning::problem_of_sweep(
          "[sweep.grid]\n\"model.layer.attention\" = [{ type = \"self_attention\" }]\n[sweep.when]\n"
          "\"model.layer.attention\" = \"model.layer.attention.heads == 4\"\n"),
      "dir/a.toml:35:27: when \"model.layer.attention.heads == 4\": \"model.layer.attention\" asks about "
      "itself");
}

}  // namespace
}  // namespace encore::plan
