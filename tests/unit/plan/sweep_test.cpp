// SPDX-License-Identifier: BSD-3-Clause
// Tests [sweep] (plan/sweep.hpp and plan/proposal.hpp): the order of its points, its random draws, and the
// message for every mistake in it. The draws must not change, because they would give every existing random
// sweep other experiments.
#include "plan/sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "unit/plan/planning.hpp"

namespace encore::plan {
namespace {

using planning::names;
using planning::plan;

TEST(Sweep, CrossesTheGridWithTheFirstKeySlowest) {
  const Plan planned =
      plan(planning::swept("[sweep.grid]\n\"model.layers\" = [4, 12]\nmodel.dropout = [0.1, 0.3]\n"));
  EXPECT_EQ(names(planned),
            (std::vector<std::string>{"tiny-layers=4-dropout=0.1-s1", "tiny-layers=4-dropout=0.3-s1",
                                      "tiny-layers=12-dropout=0.1-s1", "tiny-layers=12-dropout=0.3-s1"}));
  EXPECT_EQ(planned.points[3].config["model"]["layers"], 12);
  EXPECT_EQ(planned.points[3].config["model"]["dropout"], 0.3);
  EXPECT_EQ(planned.points[3].origin.at("model.dropout").source, config::Source::sweep);
  EXPECT_EQ(planned.points[3].origin.at("model.dropout").place.text(), "dir/a.toml:34:23");
  EXPECT_EQ(planned.points[3].varied, (std::vector<std::pair<std::string, std::string>>{
                                          {"model.layers", "12"}, {"model.dropout", "0.3"}}));
}

TEST(Sweep, MovesZipsInLockStepWithinTheGrid) {
  const Plan planned = plan(
      planning::swept("[sweep.grid]\n\"train.epochs\" = [1, 2]\n[[sweep.zip]]\n\"model.layers\" = [4, 12]\n"
                      "\"model.dropout\" = [0.1, 0.3]\n"));
  EXPECT_EQ(names(planned),
            (std::vector<std::string>{
                "tiny-epochs=1-layers=4-dropout=0.1-s1", "tiny-epochs=1-layers=12-dropout=0.3-s1",
                "tiny-epochs=2-layers=4-dropout=0.1-s1", "tiny-epochs=2-layers=12-dropout=0.3-s1"}));
}

TEST(Sweep, AWholeTableReplacesTheTable) {
  const Plan planned = plan(planning::swept(
      "[sweep.grid]\n\"model.layer.attention\" = [{ type = \"self_attention\", heads = 2, dropout "
      "= 0.5 }, { type = \"alibi_attention\" }, { type = \"alibi_attention\", heads = 8 }]\n"));
  EXPECT_EQ(names(planned), (std::vector<std::string>{"tiny-self_attention-s1", "tiny-alibi_attention-s1",
                                                      "tiny-alibi_attention.heads=8-s1"}));
  EXPECT_EQ(planned.points[1].config["model"]["layer"]["attention"],
            (nlohmann::json{{"type", "alibi_attention"}, {"heads", 4}}))
      << "the replaced table has no effect";
}

TEST(Sweep, AnOptionVariesWithinATableThatVariesToo) {
  const Plan planned = plan(
      planning::swept("[sweep.grid]\n\"model.layer.attention.heads\" = [1, 2]\n\"model.layer.attention\" = "
                      "[{ type = \"self_attention\" }, { type = \"alibi_attention\" }]\n"));
  ASSERT_EQ(planned.points.size(), 4U);
  EXPECT_EQ(planned.points[2].config["model"]["layer"]["attention"]["heads"], 2);
}

TEST(Sweep, SeedsAreInnermost) {
  const Plan planned = plan(sample::changed(planning::swept("[sweep.grid]\n\"model.layers\" = [4, 12]\n"),
                                            "seed = 1\n", "seeds = [5, 3]\n"));
  EXPECT_EQ(names(planned), (std::vector<std::string>{"tiny-layers=4-s5", "tiny-layers=4-s3",
                                                      "tiny-layers=12-s5", "tiny-layers=12-s3"}));
}

TEST(Sweep, ExcludesPointsEvenWrongOnes) {
  const std::string sweep =
      "[sweep]\nexclude = [\"model.layers == 4 && model.width == 12\", \"model.width == 33\"]\n[sweep.grid]\n"
      "\"model.layers\" = [4, 12]\n\"model.width\" = [12, 33]\n";
  const Plan planned = plan(planning::swept(sweep));
  EXPECT_EQ(names(planned), std::vector<std::string>{"tiny-layers=12-width=12-s1"});
  EXPECT_EQ(planned.excluded, 3U);
}

TEST(Sweep, AsksEveryQuestionOnce) {
  const Plan planned = plan(planning::swept("[[sweep.zip]]\n\"model.layers\" = [2, 2, 4]\n"));
  EXPECT_EQ(planned.points.size(), 2U);
  EXPECT_EQ(planned.duplicates, 1U);
}

TEST(Sweep, TheCommandLineWins) {
  const std::string sweep = planning::swept(
      "[sweep.grid]\n\"model.layers\" = [2, 4]\n\"model.layer.attention.heads\" = [1, 2]\n"
      "[sweep.random]\n\"model.dropout\" = { uniform = [0.1, 0.2] }\n");
  EXPECT_EQ(names(plan(sweep, {"model.layers=6", "model.dropout=0.5"})),
            (std::vector<std::string>{"tiny-heads=1-s1", "tiny-heads=2-s1"}));
  EXPECT_EQ(plan(sweep, {"model.layers=6"}).points[0].origin.at("model.layers").source,
            config::Source::command_line);
  EXPECT_EQ(
      plan(sweep, {"model.layer.attention={type = \"alibi_attention\"}", "sweep.grid={}", "sweep.random={}"})
          .points.size(),
      1U);
}

RandomVariable variable(RandomVariable::Law law, double low, double high) {
  RandomVariable variable;
  variable.key = "optimizer.weight_decay";
  variable.law = law;
  variable.low = low;
  variable.high = high;
  return variable;
}

TEST(Draw, StaysInItsBoundsAndFillsThem) {
  using Law = RandomVariable::Law;
  double sum = 0.0, log_sum = 0.0;
  std::set<std::int64_t> integers;
  constexpr int count = 4000;
  for (int number = 0; number < count; ++number) {
    const double u = std::get<double>(draw(variable(Law::uniform, 2.0, 4.0), 1, number).data);
    EXPECT_GE(u, 2.0);
    EXPECT_LE(u, 4.0);
    sum += u;
    const double l = std::get<double>(draw(variable(Law::log_uniform, 1e-4, 1e-1), 1, number).data);
    EXPECT_GE(l, 1e-4);
    EXPECT_LE(l, 1e-1);
    log_sum += std::log10(l);
    integers.insert(std::get<std::int64_t>(draw(variable(Law::integer, -2, 2), 1, number).data));
  }
  EXPECT_NEAR(sum / count, 3.0, 0.05);
  EXPECT_NEAR(log_sum / count, -2.5, 0.07);
  EXPECT_EQ(integers, (std::set<std::int64_t>{-2, -1, 0, 1, 2}));
}

TEST(Draw, IsAPureFunctionOfSeedNumberAndKey) {
  const RandomVariable one = variable(RandomVariable::Law::log_uniform, 1e-4, 1e-1);
  RandomVariable other = one;
  other.key = "optimizer.learning_rate";
  // Stored values: a change would give every random sweep other experiments.
  EXPECT_EQ(config::to_text(draw(one, 1, 0)), "0.00327243");
  EXPECT_EQ(config::to_text(draw(one, 1, 1)), "0.00066593");
  EXPECT_EQ(config::to_text(draw(one, 2, 0)), "0.000102433");
  EXPECT_EQ(config::to_text(draw(other, 1, 0)), "0.000841711");
}

TEST(Draw, MoreDrawsKeepTheFirstOnes) {
  const auto with = [](int draws) {
    return plan(planning::swept(
        "[sweep]\nseed = 3\ndraws = " + std::to_string(draws) +
        "\n[sweep.random]\n\"optimizer.weight_decay\" = { log_uniform = [1e-4, 1e-1] }\n"
        "\"model.layers\" = { int = [1, 6] }\n\"model.layer.attention.heads\" = { choice = [1, 2, 4] }\n"));
  };
  const Plan few = with(4), many = with(9);
  ASSERT_EQ(few.points.size(), 4U);
  ASSERT_EQ(many.points.size(), 9U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(few.points[i].question, many.points[i].question);
}

TEST(Sweep, RejectsUnknownOptions) {
  EXPECT_EQ(planning::problem_of_sweep("[sweep.grid]\n\"model.layer.attention.haeds\" = [1, 2]\n"),
            "dir/a.toml:33:1: unknown option \"haeds\" of layer \"self_attention\"; did you mean \"heads\"?");
  EXPECT_EQ(planning::problem_of_sweep(
                "[sweep.grid]\n\"model.layer.attnetion\" = [{ type = \"alibi_attention\" }]\n"),
            "dir/a.toml:33:1: no run uses the table [model.layer.attnetion]: \"block\" and \"norm\" of "
            "[model] do not name "
            "it; did you mean \"attention\"?");
  EXPECT_EQ(planning::problem_of_sweep("[sweep.grid]\n\"modle.width\" = [1, 2]\n"),
            "dir/a.toml:33:1: [sweep.grid] cannot vary \"modle.width\"; did you mean \"model\"?");
  EXPECT_EQ(planning::problem_of_sweep("[sweep.grid]\n\"model.width.x\" = [1, 2]\n"),
            "dir/a.toml:33:1: \"model.width.x\" goes through a value that is not a table");
  EXPECT_EQ(
      planning::problem_of_sweep("[sweep.grid]\nseed = [1, 2]\n"),
      "dir/a.toml:33:1: [sweep.grid] cannot vary \"seed\"; write seeds = [1, 2, 3] at the top of the file");
  EXPECT_EQ(planning::problem_of_sweep("[sweep]\ndrawss = 2\n"),
            "dir/a.toml:33:1: unknown option \"drawss\" of [sweep]; did you mean \"draws\"?");
}

TEST(Sweep, NamesTheTablesOfAnOptionThatIsVariedWithoutOne) {
  EXPECT_EQ(planning::problem_of_sweep("[sweep.random]\nlearning_rate = { uniform = [0, 1] }\n"),
            "dir/a.toml:33:1: [sweep.random] cannot vary \"learning_rate\"; did you mean "
            "\"optimizer.learning_rate\"?");
  EXPECT_EQ(planning::problem_of_sweep(
                "[sweep.grid]\nheads = [1, 2]\n[model.layer.other]\ntype = \"alibi_attention\"\n"),
            "dir/a.toml:33:1: [sweep.grid] cannot vary \"heads\"; did you mean "
            "\"model.layer.attention.heads\" or \"model.layer.other.heads\"?");
  EXPECT_EQ(planning::problem_of_sweep("[sweep.grid]\ndraws = [1, 2]\n"),
            "dir/a.toml:33:1: [sweep.grid] cannot vary \"draws\"; it varies options of \"task\", \"data\", "
            "\"tokenizer\", \"model\", \"optimizer\", \"schedule\", \"train\", \"distil\", \"app\"");
}

TEST(Sweep, PointsAtTheValueThatIsWrong) {
  EXPECT_EQ(planning::problem_of_sweep("[sweep.grid]\n\"model.layers\" = [2, 0, 4, -1]\n"),
            "dir/a.toml:33:22: option \"layers\" of [model] must be at least 1 and at most 1000, found the "
            "integer 0\n"
            "dir/a.toml:33:28: option \"layers\" of [model] must be at least 1 and at most 1000, found the "
            "integer -1");
}

TEST(Sweep, RejectsAnInvalidGrid) {
  EXPECT_EQ(
      planning::problem_of_sweep("[sweep.grid]\n\"model.layers\" = 4\n"),
      "dir/a.toml:33:18: \"model.layers\" of [sweep.grid] must be a list of values, found the integer 4");
  EXPECT_EQ(
      planning::problem_of_sweep("[sweep.grid]\n\"model.layers\" = []\n"),
      "dir/a.toml:33:18: \"model.layers\" of [sweep.grid] must be a list of values, found an empty list");
  EXPECT_EQ(planning::problem_of_sweep("[sweep]\ngrid = 3\n"),
            "dir/a.toml:33:8: [sweep.grid] must be a table, found the integer 3");
  EXPECT_EQ(planning::problem_of_sweep("[sweep.grid]\n\"model layers\" = [1]\n"),
            "dir/a.toml:33:1: \"model layers\" is not the name of an option: expected a name such as "
            "model.width (in "
            "[sweep.grid])");
}

TEST(Sweep, RefusesMoreDrawsThanASweepHasPoints) {
  EXPECT_NE(
      planning::problem_of_sweep("[sweep]\ndraws = 100001\n[sweep.random]\n\"model.dropout\" = [0.1, 0.2]\n")
          .find("option \"draws\" of [sweep] must be at least 1 and at most 1e5, found the integer 100001"),
      std::string::npos);
}

TEST(Sweep, RefusesTheSameOptionTwice) {
  EXPECT_EQ(
      planning::problem_of_sweep("[sweep.grid]\n\"model.layers\" = [1]\n[[sweep.zip]]\nmodel.layers = [2]\n"),
      "dir/a.toml:35:7: \"model.layers\" is varied twice; see dir/a.toml:33:1");
}

TEST(Sweep, RefusesAValueTwiceInAGrid) {
  EXPECT_EQ(
      planning::problem_of_sweep("[sweep.grid]\n\"model.layers\" = [4, 2, 4]\n"),
      "dir/a.toml:33:25: \"model.layers\" of [sweep.grid]: 4 stands twice in the list; keep one of them");
  EXPECT_EQ(
      planning::problem_of_sweep("[sweep.grid]\n\"model.dropout\" = [0.1, 1e-1]\n"),
      "dir/a.toml:33:25: \"model.dropout\" of [sweep.grid]: 0.1 stands twice in the list; keep one of them");
  EXPECT_EQ(
      planning::problem_of_sweep("[sweep.grid]\n\"model.layers\" = [4, 2]\n\"model.groups\" = [2, 1]\n"),
      "no problem");
  EXPECT_EQ(planning::problem_of_sweep(
                "[[sweep.zip]]\n\"model.layers\" = [4, 4]\n\"model.dropout\" = [0.1, 0.2]\n"),
            "no problem");
}

TEST(Sweep, RefusesAZipOfUnequalLengths) {
  EXPECT_EQ(
      planning::problem_of_sweep("[[sweep.zip]]\n\"model.layers\" = [1, 2]\n\"model.dropout\" = [0.1]\n"),
      "dir/a.toml:34:1: [[sweep.zip]] moves in lock step, but \"model.dropout\" has 1 value and "
      "\"model.layers\" has "
      "2 values");
  EXPECT_EQ(planning::problem_of_sweep("[sweep.zip]\n\"model.layers\" = [1, 2]\n"),
            "dir/a.toml:32:1: \"zip\" of [sweep] must be written [[sweep.zip]], found a table");
}

TEST(Sweep, RejectsAnInvalidDistribution) {
  const std::string start = "[sweep.random]\n\"model.dropout\" = ";
  const std::string owner = "\"model.dropout\" of [sweep.random] ";
  EXPECT_EQ(
      planning::problem_of_sweep(start + "{ unifrom = [0, 1] }\n"),
      "dir/a.toml:33:21: " + owner + "has the unknown distribution \"unifrom\"; did you mean \"uniform\"?");
  EXPECT_EQ(planning::problem_of_sweep(start + "[0, 1]\n"),
            "dir/a.toml:33:19: " + owner +
                "must be { uniform = [low, high] }, { log_uniform = [low, high] }, { int = [low, "
                "high] }, { log_int = [low, high] } or { choice = [...] }, found a list");
  EXPECT_EQ(
      planning::problem_of_sweep(start + "{ uniform = [1, 0] }\n"),
      "dir/a.toml:33:31: " + owner + "needs two finite numbers [low, high], the first below the second");
  EXPECT_EQ(planning::problem_of_sweep(start + "{ log_uniform = [0, 1] }\n"),
            "dir/a.toml:33:35: " + owner +
                "needs two finite numbers [low, high], the first below the second and above 0");
  EXPECT_EQ(planning::problem_of_sweep(start + "{ int = [0.5, 1] }\n"),
            "dir/a.toml:33:27: " + owner + "needs two integers [low, high], the first not above the second");
  EXPECT_EQ(planning::problem_of_sweep(start + "{ choice = [] }\n"),
            "dir/a.toml:33:30: " + owner + "must choose from a list of values, found an empty list");
  EXPECT_EQ(planning::problem_of_sweep("[sweep]\ndraws = 4\n"),
            "dir/a.toml:33:9: option \"draws\" of [sweep] asks for random draws, but there is no table "
            "[sweep.random]");
}

TEST(Sweep, RejectsInvalidConditions) {
  EXPECT_EQ(planning::problem_of_sweep("[sweep]\nexclude = [\"model.layers = 4\"]\n"),
            "dir/a.toml:33:12: exclude \"model.layers = 4\": expected ==, !=, <, <=, >, >=, && or || at "
            "character 14, found "
            "\"= 4\"");
  EXPECT_EQ(
      planning::problem_of_sweep("[sweep]\nexclude = [\"model.layrs == 4\"]\n"),
      "dir/a.toml:33:12: exclude \"model.layrs == 4\": no run has an option \"model.layrs\"; did you mean "
      "\"model.layers\"?");
  EXPECT_EQ(planning::problem_of_sweep("[sweep]\nexclude = [\"model.norm == 4\"]\n"),
            "dir/a.toml:33:12: exclude \"model.norm == 4\": \"model.norm\" is text, 4 is a number: they "
            "cannot be compared "
            "with ==");
  EXPECT_EQ(planning::problem_of_sweep(
                "[sweep]\nexclude = [\"model.layers > 0\"]\n[sweep.grid]\n\"model.layers\" = [1, 2]\n"),
            "dir/a.toml:32:1: [sweep] excludes every one of its points");
}

TEST(Sweep, NamesAnExclusionThatMatchesNoPoint) {
  const auto warnings = [](const std::string& sweep, const std::vector<std::string>& overrides = {}) {
    std::string text;
    for (const config::Problem& warning : plan(sample::experiment + sweep, overrides).warnings)
      text += warning.text() + "\n";
    return text;
  };
  const std::string grid = "[sweep.grid]\n\"model.layers\" = [1, 2]\n";
  EXPECT_EQ(warnings("[sweep]\nexclude = [\"model.layers == 2\"]\n" + grid), "");
  EXPECT_EQ(warnings("[sweep]\nexclude = [\"model.layers == 2\", \"model.layers == 7\"]\n" + grid),
            "dir/a.toml:33:33: exclude \"model.layers == 7\" meets no point of the sweep\n");
  EXPECT_EQ(warnings("[sweep]\nexclude = [\"model.layers == 2\", \"model.layers >= 2\"]\n" + grid), "")
      << "each meets a point, although it is the same one";
  EXPECT_EQ(warnings("[sweep]\nexclude = [\"model.layers == 2\"]\n" + grid, {"model.layers=1"}), "")
      << "the command line may remove the points that it meets";
  EXPECT_NE(warnings("[sweep]\nexclude = [\"model.layers == 7\"]\n" + grid, {"train.epochs=1"}), "");
  EXPECT_EQ(warnings("[sweep]\ndraws = 2\nexclude = [\"model.dropout > 0.9\"]\n[sweep.random]\n"
                     "\"model.dropout\" = { uniform = [0, 0.99] }\n"),
            "")
      << "a draw may miss the value";
}

TEST(Sweep, RefusesConditionsThatNestTooDeep) {
  EXPECT_EQ(planning::problem_of_sweep("[sweep]\nexclude = [\"" + std::string(20000, '(') + "\"]\n"),
            "dir/a.toml:33:12: exclude \"" + std::string(60, '(') +
                "...\": nested more than 100 levels deep at character 102");
}

TEST(Sweep, RejectsTooManyRuns) {
  std::string sweep = "[sweep.grid]\n";
  for (const char* key : {"model.layers", "model.width", "train.epochs", "train.patience",
                          "train.digest_steps", "data.max_length"})
    sweep += "\"" + std::string(key) + "\" = [4, 6, 8, 10, 12, 14, 16, 18]\n";
  EXPECT_EQ(planning::problem_of_sweep(sweep),
            "dir/a.toml:32:1: sweep and seeds ask for more than 100000 runs");
}

}  // namespace
}  // namespace encore::plan
