// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp report --checklist` (report/checklist.hpp): its answers match the records of the runs, and every
// place that it names exists. A new item of the list needs an answer or something to do, which is tested for
// all items.
#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "report/report.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

class ChecklistVerb : public ::testing::Test {
 protected:
  void SetUp() override { sandbox_.set("FAKE_STEP_MS", "0"); }
  void train(const std::string& seeds) {
    std::string text = tiny_experiment();
    text.replace(text.find("seed = 1"), 8, seeds);
    sandbox_.write("tiny.toml", text);
    ASSERT_EQ(sandbox_.exp({"run", "tiny.toml", "-q"}).end.exit_code, 0);
  }
  json list(const std::string& name) const {
    const runner::ProgramOutput output = sandbox_.exp({"report", "--checklist", name, "--json"});
    EXPECT_EQ(output.end.exit_code, 0) << output.errors;
    return json::parse(output.output);
  }
  /// Returns all answers of an item as one string.
  static std::string answer(const json& list, const std::string& number) {
    std::string text;
    for (const json& item : list.at("items"))
      if (item.at("number") == number)
        for (const json& one : item.at("answers")) text += one.get<std::string>() + " ";
    return text;
  }

  Sandbox sandbox_;
};

TEST_F(ChecklistVerb, AnswersFromTheRecordAndLeavesTheRest) {
  train("seeds = [4, 5, 6]");
  const json neurips = list("neurips");
  ASSERT_EQ(neurips.at("items").size(), 16u);
  const std::string train_file = sha256_of_file(sandbox_.folder() / "train.conll").substr(0, 16);
  EXPECT_TRUE(contains(answer(neurips, "6"), train_file)) << answer(neurips, "6");
  EXPECT_TRUE(contains(answer(neurips, "6"), "Every run is counted, 3 in all: 3 completed."));
  EXPECT_TRUE(contains(answer(neurips, "7"), "1 candidate, 3 seeds. Intervals cover 95 %"))
      << answer(neurips, "7");
  EXPECT_TRUE(contains(answer(neurips, "4"), "The seeds are 4, 5 and 6; ")) << answer(neurips, "4");
  EXPECT_TRUE(contains(answer(neurips, "4"), "No run was trained again yet")) << answer(neurips, "4");
  EXPECT_EQ(answer(neurips, "9"), "") << "no record knows the ethics of a work";
  ASSERT_EQ(sandbox_.exp({"verify", "tiny-s4", "-q"}).end.exit_code, 0);
  EXPECT_TRUE(contains(answer(list("neurips"), "4"), "Of 1 run that were trained again, 1 agreed"));
  EXPECT_EQ(list("acl").at("items").size(), 18u);
  EXPECT_TRUE(contains(answer(list("mlperf"), "3"), "3 in all"));
}

TEST_F(ChecklistVerb, OneSeedHasNoSpread) {
  train("seed = 1");
  EXPECT_TRUE(contains(answer(list("acl"), "C3"), "1 seed. One seed says nothing about the spread"));
}

TEST_F(ChecklistVerb, EveryItemHasAnAnswerOrSomethingToDoAndEveryPlaceIsThere) {
  train("seeds = [1, 2]");
  const std::vector<std::string>& sections = report::report_sections();
  for (const char* name : {"neurips", "acl", "mlperf"})
    for (const json& item : list(name).at("items")) {
      EXPECT_FALSE(item.at("answers").empty() && item.at("person").get<std::string>().empty()) << item;
      EXPECT_EQ(item.at("answers").empty(), item.at("where").empty()) << item;
      for (const json& where : item.at("where")) {
        const std::string place = where;
        if (place.starts_with("section ")) {
          EXPECT_TRUE(std::ranges::find(sections, place.substr(8)) != sections.end()) << place;
        }
        if (place.starts_with("table ")) {
          const std::string table = place.substr(6, place.find(' ', 6) - 6);
          EXPECT_EQ(sandbox_.one("SELECT count(*) FROM sqlite_schema WHERE name = '" + table + "'"), "1")
              << place;
        }
      }
    }
}

TEST_F(ChecklistVerb, IsWrittenInTheFormatsOfReports) {
  train("seed = 1");
  const runner::ProgramOutput text = sandbox_.exp({"report", "--checklist", "acl"});
  EXPECT_TRUE(text.output.starts_with("# Responsible NLP research checklist")) << text.output;
  EXPECT_TRUE(contains(text.output, "| B6 Statistics of the data |")) << text.output;
  for (const char* file : {"list.html", "list.md", "list.tex", "list.json"}) {
    ASSERT_EQ(sandbox_.exp({"report", "tiny", "--checklist", "neurips", "-o", file}).end.exit_code, 0)
        << file;
    EXPECT_TRUE(contains(sandbox_.read(file), "Safeguards")) << file;
  }
}

TEST_F(ChecklistVerb, RefusesWhatItDoesNotHave) {
  train("seed = 1");
  const auto refused = [&](const std::vector<std::string>& options, const std::string& reason) {
    std::vector<std::string> command = {"report", "tiny"};
    command.insert(command.end(), options.begin(), options.end());
    const runner::ProgramOutput output = sandbox_.exp(command);
    EXPECT_EQ(output.end.exit_code, 2) << output.output;
    EXPECT_TRUE(contains(output.errors, reason)) << output.errors;
  };
  refused({"--checklist", "neurip"}, "invalid --checklist \"neurip\"; did you mean \"neurips\"?");
  refused({"--json"}, "--json needs --checklist");
  refused({"--checklist", "acl", "--brief"}, "--checklist excludes --brief");
  refused({"--checklist", "acl", "--without", "examples"}, "--checklist excludes --without");
}

}  // namespace
}  // namespace encore::system_test
