// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp plan` (cli/plan_verb.cpp, app/plan.hpp, app/run_time.hpp): what each run would do and why, the
// time it will take by earlier runs, and the source of each value. How a time is estimated may change,
// together with the expected times; a plan must write nothing.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

class PlanVerb : public ::testing::Test {
 protected:
  std::string output_of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "plan");
    const runner::ProgramOutput output = sandbox_.exp(arguments);
    EXPECT_EQ(output.end.exit_code, 0) << output.errors;
    return output.output;
  }
  nlohmann::json json_of(std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    return nlohmann::json::parse(output_of(arguments));
  }
  /// Returns the time of the only planned run, or null.
  nlohmann::json time_of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "tiny.toml");
    return json_of(arguments).at("runs").at(0).at("time");
  }
  /// Trains tiny.toml for its four epochs and records that this took 40 seconds.
  void train_in_40_seconds() const {
    ASSERT_EQ(sandbox_.exp({"run", "tiny.toml"}).end.exit_code, 0);
    sandbox_.change("UPDATE attempt SET started = 1000, finished = 1040");
  }

  Sandbox sandbox_;
};

// --- how long ---

TEST_F(PlanVerb, KnowsNoTimeWhereNothingWasTrained) {
  const std::string output = output_of({"tiny.toml"});
  EXPECT_TRUE(contains(output, "1 of 1 runs to do")) << output;
  EXPECT_TRUE(contains(output, "time unknown: no similar run yet")) << output;
  const nlohmann::json plan = json_of({"tiny.toml"});
  EXPECT_TRUE(plan.at("seconds").is_null());
  EXPECT_EQ(plan.at("without_time"), 1);
  EXPECT_EQ(plan.at("runs").at(0).at("why"), "new");
}

TEST_F(PlanVerb, SaysWhatBecameOfPointsWithoutRuns) {
  sandbox_.write("sweep.toml",
                 tiny_experiment() +
                     "[sweep]\nexclude = [\"train.epochs == 9\"]\n[sweep.grid]\n\"model.layers\" = [1, 2]\n"
                     "\"model.dropout\" = [0.1, 0.2, 0.3]\n[[sweep.zip]]\n\"train.epochs\" = [2, 2, 9]\n"
                     "[sweep.when]\n\"model.dropout\" = \"model.layers == 2\"\n");
  const std::string output = output_of({"sweep.toml", "--seeds", "1-3"});
  EXPECT_TRUE(
      contains(output,
               "12 of 12 runs to do on openmp, 6 points excluded, 5 points the same as an earlier one "
               "without what [sweep.when] leaves out, 3 points the same as an earlier one\n"))
      << output;
  const nlohmann::json plan = json_of({"sweep.toml"});
  EXPECT_EQ(plan.at("excluded"), 6);
  EXPECT_EQ(plan.at("alike_by_when"), 5);
  EXPECT_EQ(plan.at("duplicates"), 3);
}

TEST_F(PlanVerb, GoesByTheEpochsOfALikeRun) {
  train_in_40_seconds();
  const nlohmann::json time = time_of({"-S", "train.epochs=8", "-S", "optimizer.learning_rate=0.5"});
  EXPECT_DOUBLE_EQ(time.at("seconds").get<double>(), 80.0);
  EXPECT_EQ(time.at("from"), "tiny");
  EXPECT_EQ(time.at("from_id"), sandbox_.one("SELECT id FROM run"));
  EXPECT_TRUE(time.at("different").empty()) << "the learning rate does not change the time";
  const std::string text = output_of({"tiny.toml", "-S", "train.epochs=8"});
  EXPECT_TRUE(contains(text, "about 1m 20s; estimated from tiny (")) << text;
}

TEST_F(PlanVerb, EstimatesARunOfStepsByTheTimeOfAStep) {
  train_in_40_seconds();  // 20 steps
  const auto seconds = [&](const std::vector<std::string>& more) {
    return time_of(more).at("seconds").get<double>();
  };
  EXPECT_DOUBLE_EQ(seconds({"-S", "train.steps=10"}), 20.0);
  EXPECT_DOUBLE_EQ(seconds({"-S", "train.steps=10", "-S", "train.batch_size=8"}), 40.0)
      << "a batch of twice as many examples";
  EXPECT_TRUE(time_of({"-S", "train.steps=10", "-S", "train.batch_tokens=64"}).is_null())
      << "the number of examples in such a batch is unknown";
}

TEST_F(PlanVerb, ScalesByLayersAndTheSquareOfTheWidth) {
  train_in_40_seconds();
  const nlohmann::json deeper = time_of({"-S", "model.layers=3"});
  EXPECT_DOUBLE_EQ(deeper.at("seconds").get<double>(), 120.0);
  EXPECT_EQ(deeper.at("different"), nlohmann::json({"model.layers"}));
  EXPECT_DOUBLE_EQ(time_of({"-S", "model.width=32"}).at("seconds").get<double>(), 160.0);
  EXPECT_TRUE(contains(output_of({"tiny.toml", "-S", "model.layers=3"}), "which differs in model.layers"));
}

TEST_F(PlanVerb, GoesByNoRunOfAnotherKindOrOfQuiteAnotherSize) {
  train_in_40_seconds();
  EXPECT_TRUE(time_of({"-S", "train.precision=bfloat16"}).is_null());
  EXPECT_TRUE(time_of({"-S", "model.layers=40"}).is_null()) << "40 times as many layers";
}

TEST_F(PlanVerb, TakesTheNearestRun) {
  train_in_40_seconds();
  ASSERT_EQ(sandbox_.exp({"run", "tiny.toml", "--name", "deep", "-S", "model.layers=3"}).end.exit_code, 0);
  sandbox_.change("UPDATE attempt SET started = 1000, finished = 1400 WHERE number = 2");
  EXPECT_EQ(time_of({"--seed", "2"}).at("from"), "tiny");
  EXPECT_EQ(time_of({"--seed", "2", "-S", "model.layers=3"}).at("from"), "deep");
  EXPECT_DOUBLE_EQ(time_of({"--seed", "2", "-S", "model.layers=3"}).at("seconds").get<double>(), 400.0);
}

TEST_F(PlanVerb, NamesARunThatTimesAreTakenFromOnce) {
  train_in_40_seconds();
  sandbox_.write("sizes.toml", "base = \"tiny.toml\"\nseed = 2\n[sweep.grid]\n\"model.layers\" = [1, 2]\n");
  const std::string id = sandbox_.one("SELECT id FROM run");
  const auto going_by = [&](const std::string& text) {
    const std::size_t begin = text.find("estimated from ");
    return begin == std::string::npos ? text : text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_EQ(going_by(output_of({"sizes.toml"})),
            "estimated from tiny (" + id + "), which differs from some of them in model.layers");
  sandbox_.write(
      "both.toml",
      "base = \"tiny.toml\"\n[sweep.grid]\n\"model.layers\" = [2, 3]\n\"model.width\" = [16, 32]\n");
  EXPECT_EQ(going_by(output_of({"both.toml"})),
            "estimated from tiny (" + id + "), which differs in model.layers, model.width");
}

TEST_F(PlanVerb, DividesByTheJobs) {
  train_in_40_seconds();
  sandbox_.write("four.toml", "base = \"tiny.toml\"\nseeds = [2, 3, 4, 5]\n");
  EXPECT_DOUBLE_EQ(json_of({"four.toml"}).at("seconds").get<double>(), 160.0);
  EXPECT_DOUBLE_EQ(json_of({"four.toml", "-j", "2"}).at("seconds").get<double>(), 80.0);
  EXPECT_DOUBLE_EQ(json_of({"four.toml", "-j", "100"}).at("seconds").get<double>(), 40.0)
      << "no sweep is faster than its longest run";
}

TEST_F(PlanVerb, CountsOnlyTheRestOfARun) {
  train_in_40_seconds();
  sandbox_.set("FAKE_CRASH_AT", "11");
  EXPECT_NE(sandbox_.exp({"run", "tiny.toml", "--seed", "2"}).end.exit_code, 0);
  const nlohmann::json run = json_of({"tiny.toml", "--seed", "2"}).at("runs").at(0);
  EXPECT_EQ(run.at("action"), "resume");
  EXPECT_NEAR(run.at("time").at("seconds").get<double>(), 20.0, 1e-6) << "10 of 20 steps are done";
  EXPECT_TRUE(contains(run.at("why"), "lost at 50 %")) << run;
  EXPECT_TRUE(contains(run.at("why"), "; from its newest checkpoint")) << run;
}

TEST_F(PlanVerb, OtherHostsOtherDataAndOtherBackendsGiveNoEstimate) {
  train_in_40_seconds();
  EXPECT_FALSE(time_of({"--seed", "2"}).is_null());
  sandbox_.change("UPDATE attempt SET host_name = 'elsewhere'");
  EXPECT_TRUE(time_of({"--seed", "2"}).is_null());
  sandbox_.change("UPDATE attempt SET host_name = (SELECT 'x')");
  EXPECT_TRUE(time_of({"--seed", "2"}).is_null());
}

TEST_F(PlanVerb, OtherTrainingDataGivesNoEstimate) {
  train_in_40_seconds();
  EXPECT_TRUE(time_of({"-S", "data.train=dev.conll", "--seed", "2"}).is_null());
}

TEST_F(PlanVerb, ACompleteSweepTakesNoTime) {
  train_in_40_seconds();
  const nlohmann::json plan = json_of({"tiny.toml"});
  EXPECT_EQ(plan.at("to_do"), 0);
  EXPECT_EQ(plan.at("seconds"), 0.0);
  EXPECT_TRUE(contains(plan.at("runs").at(0).at("why"), "complete since "));
  EXPECT_FALSE(contains(output_of({"tiny.toml"}), "about"));
}

// --- where values come from ---

TEST_F(PlanVerb, ShowsWhereEachValueComesFrom) {
  sandbox_.write("sweep.toml", "base = \"tiny.toml\"\n[sweep.grid]\n\"model.layers\" = [1, 2]\n");
  const nlohmann::json values =
      json_of({"sweep.toml", "-S", "model.dropout=0.2", "--values"}).at("runs").at(1).at("values");
  EXPECT_EQ(values.at("model.layers"),
            (nlohmann::json{{"value", 2}, {"source", "sweep"}, {"at", "sweep.toml:3:22"}}));
  EXPECT_EQ(values.at("model.dropout"),
            (nlohmann::json{{"value", 0.2}, {"source", "command line"}, {"at", "-S model.dropout=0.2"}}));
  EXPECT_EQ(values.at("model.width"),
            (nlohmann::json{{"value", 16}, {"source", "file"}, {"at", "tiny.toml:15:9"}}));
  EXPECT_EQ(values.at("train.patience").at("source"), "default");
  EXPECT_FALSE(json_of({"sweep.toml"}).at("runs").at(0).contains("values"));
}

TEST_F(PlanVerb, ShowsWhereNameAndSeedComeFrom) {
  sandbox_.write("sweep.toml", "base = \"tiny.toml\"\nseeds = [3, 4]\n");
  const nlohmann::json runs = json_of({"sweep.toml", "--values", "--name", "other"}).at("runs");
  EXPECT_EQ(runs.at(1).at("values").at("seed"),
            (nlohmann::json{{"value", 4}, {"source", "file"}, {"at", "sweep.toml:2:13"}}));
  EXPECT_EQ(runs.at(1).at("values").at("name"),
            (nlohmann::json{{"value", "other"}, {"source", "command line"}, {"at", "-S name=other"}}));
  const std::string all = output_of({"sweep.toml", "--values"});
  EXPECT_NE(all.find("sweep.toml:2:10 | sweep.toml:2:13"), std::string::npos) << all;
  EXPECT_EQ(json_of({"sweep.toml", "--values"}).at("runs").at(0).at("values").at("name").at("source"),
            "default")
      << "named after its file";
}

TEST_F(PlanVerb, ShowsTheValuesOfOneRunOrOfAll) {
  sandbox_.write("sweep.toml", "base = \"tiny.toml\"\n[sweep.grid]\n\"model.layers\" = [1, 2]\n");
  const std::string all = output_of({"sweep.toml", "--values"});
  EXPECT_TRUE(contains(all, "1 | 2")) << all;
  EXPECT_TRUE(contains(all, "sweep, sweep.toml:3:19 | sweep, sweep.toml:3:22")) << all;
  EXPECT_TRUE(contains(all, "tiny.toml:15:9")) << all;
  EXPECT_TRUE(contains(all, "default")) << all;
  const std::string one = output_of({"sweep.toml", "*layers=2*", "--values"});
  EXPECT_TRUE(contains(one, "sweep-layers=2-s1\n")) << one;
  EXPECT_FALSE(contains(one, "1 | 2")) << one;
}

// --- what is refused ---

TEST_F(PlanVerb, RejectsInvalidCommandLines) {
  const runner::ProgramOutput jobs = sandbox_.exp({"plan", "tiny.toml", "-j", "0"});
  EXPECT_EQ(jobs.end.exit_code, 2);
  EXPECT_TRUE(contains(jobs.errors, "invalid -j 0: expected at least 1")) << jobs.errors;
  const runner::ProgramOutput run = sandbox_.exp({"plan", "tiny.toml", "tinny", "--values"});
  EXPECT_EQ(run.end.exit_code, 2);
  EXPECT_TRUE(contains(run.errors, "no run of tiny.toml has the name \"tinny\"; did you mean \"tiny\"?"))
      << run.errors;
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "encore.db")) << "nothing may be written";
}

}  // namespace
}  // namespace encore::system_test
