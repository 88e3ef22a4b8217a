// SPDX-License-Identifier: BSD-3-Clause
// Tests factors_of(): in which variables the runs of a group differ, as reports, `exp ls` and `exp compare`
// show them. Each setting that a sweep or the command line varies is a variable; a setting from a file or a
// default that only changes together with another one belongs to that variable. The source of a setting
// decides, so the tests set it.
#include "analysis/factors.hpp"

#include <gtest/gtest.h>

namespace encore::analysis {
namespace {

/// The settings of one run, each with key, value and source.
using Settings = std::vector<store::ParamRow>;

store::ParamRow setting(const std::string& key, const nlohmann::json& value,
                        const std::string& source = "default") {
  store::ParamRow row;
  row.key = key;
  row.value = value;
  row.source = source;
  return row;
}

/// Returns the factors of runs with these settings, one list for each run.
std::vector<Factor> factors(const std::vector<Settings>& settings) {
  std::vector<store::RunRow> runs;
  store::RunBatch::ByRun<store::ParamRow> params;
  for (const Settings& own : settings) {
    store::RunRow run;
    run.number = static_cast<std::int64_t>(runs.size() + 1);
    params[run.number] = own;
    runs.push_back(run);
  }
  return factors_of(runs, params);
}

std::vector<std::string> names(const std::vector<Factor>& factors) {
  std::vector<std::string> list;
  for (const Factor& factor : factors) list.push_back(factor.name);
  return list;
}

TEST(Factors, DrawnNumbersAreVariablesOfTheirOwn) {
  std::vector<Settings> runs;
  for (const double draw : {0.1, 0.2, 0.3})
    runs.push_back(
        {setting("model.dropout", draw, "sweep"), setting("optimizer.learning_rate", draw / 7, "sweep")});
  EXPECT_EQ(names(factors(runs)), (std::vector<std::string>{"model.dropout", "optimizer.learning_rate"}));
}

TEST(Factors, AnIntegerAndAnEqualRealNumberAreOneLevel) {
  const auto found = factors({{setting("optimizer.clip_norm", 1, "sweep")},
                              {setting("optimizer.clip_norm", 1.0, "sweep")},
                              {setting("optimizer.clip_norm", 2, "sweep")}});
  ASSERT_EQ(names(found), std::vector<std::string>{"optimizer.clip_norm"});
  EXPECT_EQ(found[0].levels, (std::vector<nlohmann::json>{1, 2}));
  EXPECT_EQ(found[0].level, (std::vector<std::size_t>{0, 0, 1}));
}

TEST(Factors, SettingsOfAZipOrTheCommandLineAreNotMerged) {
  for (const char* source : {"sweep", "command line"}) {
    const auto found = factors(
        {{setting("optimizer.clip_norm", 1.0, source), setting("task.label_smoothing", 0.0, source)},
         {setting("optimizer.clip_norm", 0.5, source), setting("task.label_smoothing", 0.2, source)}});
    EXPECT_EQ(names(found), (std::vector<std::string>{"optimizer.clip_norm", "task.label_smoothing"}))
        << source;
  }
}

TEST(Factors, OptionsThatFollowFromATypeAreOneWithIt) {
  const auto found = factors({{setting("optimizer.type", "adamw", "sweep"), setting("optimizer.beta1", 0.9),
                               setting("model.dropout", 0.1, "sweep"), setting("model.norm.epsilon", 1e-5)},
                              {setting("optimizer.type", "sgd", "sweep"), setting("optimizer.momentum", 0.9),
                               setting("model.dropout", 0.2, "sweep"), setting("model.norm.epsilon", 1e-6)}});
  ASSERT_EQ(names(found), (std::vector<std::string>{"model.dropout", "optimizer.type"}));
  EXPECT_EQ(found[0].keys, (std::vector<std::string>{"model.dropout", "model.norm.epsilon"}));
  EXPECT_EQ(found[1].keys,
            (std::vector<std::string>{"optimizer.beta1", "optimizer.momentum", "optimizer.type"}));
}

TEST(Factors, WithoutASweepSettingsThatChangeTogetherAreOne) {
  const auto found = factors({{setting("model.width", 32, "file"), setting("model.layers", 1, "file")},
                              {setting("model.width", 64, "file"), setting("model.layers", 2, "file")}});
  EXPECT_EQ(names(found), std::vector<std::string>{"model.width"});
}

}  // namespace
}  // namespace encore::analysis
