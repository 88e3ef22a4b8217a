// SPDX-License-Identifier: BSD-3-Clause
// Tests [search] of an experiment file (SearchPlan, plan/search/search_plan.hpp): the resulting options, the
// trials as runs, and what is rejected, with line and column. A trial must have the identity that the same
// run has in a file without a search.
#include <deque>

#include <gtest/gtest.h>

#include "plan/search/decide.hpp"
#include "plan/search/search_plan.hpp"
#include "unit/plan/planning.hpp"

namespace encore::plan::search {
namespace {

const std::string rate = "[search.space]\n\"optimizer.learning_rate\" = { log_uniform = [1e-4, 1e-1] }\n";

/// Returns the parsed file. It lives as long as the program, because a plan refers to it.
config::ExperimentFile& document(const std::string& text, const std::vector<std::string>& overrides = {},
                                 const config::SweepTexts& sweep = {}) {
  static std::deque<config::ExperimentFile> documents;
  return documents.emplace_back(config::parse_experiment_file(text, "dir/a.toml", overrides, sweep));
}

const config::Catalogue& catalogue() {
  static const config::Catalogue one = sample::catalogue();
  return one;
}

/// Returns the errors of the sample followed by a search. The search begins at line 32, on which messages
/// depend.
std::string search_problem(const std::string& text, const std::vector<std::string>& overrides = {},
                           const config::SweepTexts& sweep = {}) {
  try {
    SearchPlan(document(sample::experiment + text, overrides, sweep), catalogue(), planning::hash_of_name);
  } catch (const config::ConfigErrors& errors) {
    return errors.what();
  }
  return "no problem";
}

void expect_problem(const std::string& text, const std::string& part,
                    const std::vector<std::string>& overrides = {}, const config::SweepTexts& sweep = {}) {
  const std::string found = search_problem(text, overrides, sweep);
  EXPECT_NE(found.find(part), std::string::npos) << "\"" << part << "\" is not in: " << found;
}

TEST(SearchFile, ItsTrialsBecomeRuns) {
  SearchPlan plan(document(sample::experiment + "[search]\nmethod = \"random\"\nrepeats = 2\n" + rate +
                           "\"model.layers\" = { int = [1, 4] }\n"),
                  catalogue(), planning::hash_of_name);
  EXPECT_EQ(plan.search().options.method, Method::random);
  EXPECT_EQ(plan.search().limits.trials, 20);
  ASSERT_EQ(plan.search().options.objectives.size(), 1u) << "the one of train.select";
  EXPECT_EQ(text_of(plan.search().options.objectives.front()), plan.select());
  const TrialRuns trial = plan.make({0.00123456, 3.0});
  ASSERT_EQ(trial.runs.size(), 2u);
  EXPECT_EQ(trial.runs[0].config["optimizer"]["learning_rate"], 0.00123456);
  EXPECT_EQ(trial.runs[0].config["model"]["layers"], 3);
  EXPECT_EQ(trial.runs[0].name, "tiny-learning_rate=0.00123-layers=3-s1");
  EXPECT_EQ(trial.runs[1].seed, trial.runs[0].seed + 1);
  EXPECT_EQ(trial.runs[0].group, trial.runs[1].group);
  EXPECT_EQ(trial.active, (std::vector<bool>{true, true}));
  EXPECT_EQ(plan.identity().size(), 64u);
}

TEST(SearchFile, ARunOfATrialHasTheIdentityOfTheSameRunInAFile) {
  SearchPlan plan(document(sample::experiment + "[search]\n" + rate), catalogue(), planning::hash_of_name);
  const Plan alone = planning::plan(sample::experiment, {"optimizer.learning_rate=0.01"});
  EXPECT_EQ(plan.make({0.01}).runs.front().question, alone.points.front().question);
}

TEST(SearchFile, LimitsAndPlacesDoNotIdentifyTheSearch) {
  const auto identity = [](const std::string& options) {
    return SearchPlan(document(sample::experiment + "[search]\n" + options + rate), catalogue(),
                      planning::hash_of_name)
        .identity();
  };
  const std::string plain = identity("");
  EXPECT_EQ(identity("trials = 99\npatience = 3\nhours = 2.5\nconfirm = 3\nconfirm_seeds = 7\n"), plain);
  EXPECT_EQ(identity("method = \"tpe\"\n"), plain) << "the default, written out";
  EXPECT_NE(identity("seed = 2\n"), plain);
  EXPECT_NE(identity("method = \"random\"\n"), plain);
  EXPECT_NE(identity("repeats = 2\n"), plain);
}

TEST(SearchFile, ConditionsTakeVariablesOutOfATrial) {
  SearchPlan plan(
      document(sample::experiment + "[search]\n[search.space]\n\"model.layers\" = { int = [1, 4] }\n"
                                    "\"model.dropout\" = { uniform = [0.0, 0.5] }\n"
                                    "[search.when]\n\"model.dropout\" = \"model.layers > 2\"\n"),
      catalogue(), planning::hash_of_name);
  EXPECT_EQ(plan.make({1.0, 0.3}).active, (std::vector<bool>{true, false}));
  EXPECT_EQ(plan.make({3.0, 0.3}).active, (std::vector<bool>{true, true}));
}

TEST(SearchFile, APointThatCannotBePlannedIsATrialWithAProblem) {
  SearchPlan plan(document(sample::experiment + "[search]\nexclude = [\"model.layers == 2\"]\n"
                                                "[search.space]\n\"model.layers\" = { int = [1, 4] }\n"),
                  catalogue(), planning::hash_of_name);
  EXPECT_EQ(plan.make({2.0}).problem, "excluded by \"exclude\" of [search]");
  EXPECT_TRUE(plan.make({2.0}).runs.empty());
  EXPECT_EQ(plan.make({3.0}).problem, "");
}

TEST(SearchFile, MistakesAreReportedWithTheirPlace) {
  expect_problem("[search]\ntrails = 3\n" + rate,
                 "dir/a.toml:33:1: unknown option \"trails\" of [search]; did you mean \"trials\"?");
  expect_problem("[search]\nmethod = \"tpee\"\n" + rate, "dir/a.toml:33:10: option \"method\" of [search]");
  expect_problem("[search]\ntrials = 0\n" + rate,
                 "dir/a.toml:33:10: option \"trials\" of [search] must be at least 1");
  expect_problem("[search]\n", "[search] has nothing to vary; write it in [search.space]");
  expect_problem("[search]\n[search.space]\n\"optimizer.learning_rat\" = { uniform = [0.1, 1.0] }\n",
                 "unknown option \"learning_rat\"");
  expect_problem(
      "[search]\n[search.space]\n\"optimizer.learning_rate\" = { log_unifrom = [0.1, 1.0] }\n",
      "\"optimizer.learning_rate\" of [search.space] has the unknown distribution \"log_unifrom\"; did "
      "you mean \"log_uniform\"?");
  expect_problem("[search]\n[search.space]\n\"model.layers\" = { log_int = [0, 4] }\n",
                 "needs two integers [low, high] above 0, the first not above the second");
  expect_problem("[search]\n" + rate + "[search.when]\n\"model.dropout\" = \"model.layers > 2\"\n",
                 "[search.when] names \"model.dropout\", which the search does not vary");
}

TEST(SearchFile, ObjectivesAreOfTheDevelopmentSet) {
  expect_problem("[search]\nobjective = \"dev/f1\"\n" + rate,
                 "dir/a.toml:33:13: option \"objective\" of [search] must be \"max dev/MEASURE\" or \"min "
                 "dev/MEASURE\", found \"dev/f1\"");
  expect_problem("[search]\nobjective = \"max test/f1\"\n" + rate,
                 "who searches by the test set has none left to say how good the best trial is");
  expect_problem(
      "[search]\nobjective = [\"max dev/f1\", \"min dev/loss\"]\npruning = \"asha\"\n" + rate,
      "option \"pruning\" of [search] needs one objective by which trials are ended early; there are 2");
  EXPECT_EQ(search_problem("[search]\nobjective = [\"max dev/f1\", \"min dev/loss\"]\n" + rate),
            "no problem");
}

TEST(SearchFile, ContradictionsAreRefused) {
  expect_problem("[search]\n" + rate + "[sweep.grid]\n\"model.layers\" = [1, 2]\n",
                 "the file has a [sweep] and a [search]; a grid stays a sweep");
  expect_problem("[search]\n" + rate, "--grid varies a sweep, but the file has a [search]", {},
                 {{"model.layers=1,2"}, std::nullopt});
  expect_problem("[search]\nrepeats = 2\n" + rate,
                 "\"repeats\" of [search] and \"seeds\" say the same thing twice; keep one of them", {},
                 {{}, "1-3"});
  expect_problem("[search]\npruning = \"asha\"\n" + rate + "\"train.epochs\" = { int = [1, 9] }\n",
                 "rungs compare trials that have been trained equally long");
  expect_problem("[search]\npruning = \"asha\"\nfirst_rung = 500\n" + rate,
                 "judges trials after 500 epochs for the first time, but they have");
}

/// Returns the experiment with its length in steps instead of epochs.
std::string by_steps(const std::string& train) {
  std::string text = sample::experiment;
  const std::size_t at = text.find("epochs = ");
  return text.replace(at, text.find('\n', at) - at, train);
}

TEST(SearchFile, RungsAreStepsWhereTheExperimentIsAsLongAsSteps) {
  const auto options = [](const std::string& train, const std::string& search) {
    return SearchPlan(document(by_steps(train) + "[search]\n" + search + rate), catalogue(),
                      planning::hash_of_name)
        .search()
        .options;
  };
  const std::string train = "steps = 100\nevaluate_every = 10";
  const SearchOptions asha = options(train, "pruning = \"asha\"\n");
  EXPECT_EQ(asha.unit, LengthUnit::steps);
  EXPECT_EQ(rungs_of(asha), (std::vector<std::int64_t>{10, 30, 90, 100}));
  EXPECT_EQ(settings_json(options_from_json(settings_json(asha))), settings_json(asha));
  EXPECT_EQ(rungs_of(options(train, "pruning = \"median\"\nfirst_rung = 40\n")),
            (std::vector<std::int64_t>{40, 50, 60, 70, 80, 90, 100}));
  EXPECT_FALSE(settings_json(options(train, "")).contains("unit")) << "without rungs there is no unit";
  const auto refused = [&](const std::string& length, const std::string& search) {
    try {
      options(length, "pruning = \"asha\"\n" + search);
    } catch (const config::ConfigErrors& errors) {
      return std::string(errors.what());
    }
    return std::string("no problem");
  };
  EXPECT_NE(refused("steps = 100", "")
                .find("judges trials by what dev gave within an epoch; give "
                      "train.evaluate_every, or train.epochs instead of train.steps"),
            std::string::npos)
      << refused("steps = 100", "");
  EXPECT_NE(
      refused(train, "first_rung = 25\n")
          .find("[search] judges trials after 25 steps, but dev is scored every 10 steps; first_rung and "
                "interval must be multiples of train.evaluate_every"),
      std::string::npos);
  EXPECT_NE(
      refused(train, "first_rung = 200\n")
          .find(
              "judges trials after 200 steps for the first time, but they have 100 in all; raise train.steps "
              "or lower first_rung"),
      std::string::npos);
}

TEST(SearchFile, AConfirmationHasSeedsThatNoTrialHas) {
  SearchPlan plan(
      document(sample::experiment + "[search]\nrepeats = 3\nconfirm = 2\nconfirm_seeds = 2\n" + rate),
      catalogue(), planning::hash_of_name);
  EXPECT_EQ(plan.search().limits.confirm, 2);
  EXPECT_EQ(plan.search().limits.confirm_seeds, 2);
  const auto seeds_of = [](const TrialRuns& trial) {
    std::vector<std::uint64_t> seeds;
    for (const RunPoint& run : trial.runs) seeds.push_back(static_cast<std::uint64_t>(run.seed));
    return seeds;
  };
  const std::vector<std::uint64_t> own = seeds_of(plan.make({0.01})),
                                   fresh = seeds_of(plan.make_fresh({0.01}, 2));
  ASSERT_EQ(own.size(), 3u);
  EXPECT_EQ(fresh, (std::vector<std::uint64_t>{own.back() + 1, own.back() + 2}));
  EXPECT_EQ(plan.make_fresh({0.01}, 2).runs.front().group, plan.make({0.01}).runs.front().group);
  expect_problem("[search]\nconfirm = 1\nconfirm_seeds = 1\n" + rate,
                 "option \"confirm_seeds\" of [search] must be at least 2");
}

TEST(SearchFile, AFileWithASearchIsNotAListOfRuns) {
  EXPECT_NE(planning::problem(sample::experiment + ("[search]\n" + rate))
                .find("the file has a [search], which proposes its runs one after the other"),
            std::string::npos);
}

TEST(SearchFile, ASpaceWithoutATrialThatCanBeTrainedIsRefused) {
  expect_problem(
      "[search]\nexclude = [\"model.layers > 0\"]\n[search.space]\n\"model.layers\" = { int = [1, 4] }\n",
      "\"exclude\" of [search] takes out each of its first 10 trials");
}

}  // namespace
}  // namespace encore::plan::search
