// SPDX-License-Identifier: BSD-3-Clause
// Tests how `exp app new` divides a file of labelled requests (app/app_shares.hpp), and the two experiment
// files that it writes (app/app_files.hpp). The application promises an upper bound on the share of wrong
// answers, with 95 % confidence. Its development set is called the fit here: the step `decide` is fitted on
// 0.8 of it, and two thirds of these examples test the bound. Expected numbers are worked out from these
// shares. That the files run is tested with the real worker (tests/system/control/app_new_test.cpp).
#include "app/app_files.hpp"

#include <gtest/gtest.h>

namespace encore::app {
namespace {

TEST(AppShares, GivesTheFitWhatThePromiseNeeds) {
  // 336 answers of which 10 are wrong still keep a bound of 5 %. A fifth of the requests gets no answer.
  EXPECT_EQ(comfortable_size(0.05), 788) << "336 answers with 10 mistakes, / 0.8 / (0.8 * 2 / 3)";
  const AppShares large = shares_for(100'000, 0.05, false);
  EXPECT_DOUBLE_EQ(large.fit, 0.2);
  EXPECT_DOUBLE_EQ(large.test, 0.2);
  EXPECT_DOUBLE_EQ(large.model(), 0.6);
  const AppShares small = shares_for(1000, 0.05, false);
  EXPECT_DOUBLE_EQ(small.fit, 0.4);
  EXPECT_DOUBLE_EQ(small.model(), 0.4);
  const AppShares middle = shares_for(3000, 0.05, true);
  EXPECT_DOUBLE_EQ(middle.fit, 0.3) << "788 / 3000, in steps of a twentieth";
  EXPECT_DOUBLE_EQ(middle.test, 0.0);
}

TEST(AppShares, SaysWhatASizeCanPromise) {
  const PromiseSize enough = promise_size(800, 0.05);
  EXPECT_EQ(enough.bound, 426) << "800 * 0.8 * 2 / 3";
  EXPECT_EQ(enough.most_errors, 13);
  const PromiseSize few = promise_size(100, 0.05);
  EXPECT_EQ(few.bound, 53) << "100 * 0.8 * 2 / 3";
  EXPECT_EQ(few.most_errors, -1) << "59 answers without a mistake are needed";
  EXPECT_EQ(few.least_bound, 59);
}

AppFilesPlan tickets() {
  AppFilesPlan plan{.name = "desk", .file = "../tickets.csv"};
  plan.survey = {.reader = "tsv", .delimiter = ",", .header = true};
  plan.survey.text.name = "body \"of\" it";
  plan.survey.label.name = "kind";
  plan.survey.found = record::SurveyedRecords{.records = 4000, .long_words = 20.0, .characters = 200'000};
  plan.shares = shares_for(4000, 0.05, false);
  return plan;
}

TEST(AppFiles, CutTheFileByTheSameShares) {
  const AppFilesPlan plan = tickets();
  const std::string model = model_file_text(plan), application = app_file_text(plan);
  // The model gets 0.6 of the records, and chooses its checkpoint by a tenth of them. The other 0.4 belong to
  // the application: 0.2 are its development set, 0.2 its test set.
  EXPECT_NE(model.find("split = [0.54, 0.06, 0.4]"), std::string::npos) << model;
  EXPECT_NE(application.find("split = [0.6, 0.2, 0.2]"), std::string::npos) << application;
  for (const std::string& text : {model, application}) {
    EXPECT_NE(text.find("train = \"../tickets.csv\"\n"), std::string::npos) << text;
    EXPECT_NE(text.find("text_column = \"body \\\"of\\\" it\"\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("stratify"), std::string::npos) << "sets of the two files could overlap";
    EXPECT_EQ(text.find("bad_rows"), std::string::npos) << text;
  }
}

TEST(AppFiles, SayWhatTheUserAskedFor) {
  AppFilesPlan plan = tickets();
  plan.error = 0.0125;
  plan.out_of_scope = "other";
  plan.test = "../test.csv";
  plan.shares = shares_for(4000, 0.05, true);
  plan.survey.found->invalid = 3;
  const std::string application = app_file_text(plan);
  EXPECT_NE(application.find("\nerror = 0.0125 "), std::string::npos) << application;
  EXPECT_NE(application.find("\nout_of_scope = \"other\""), std::string::npos) << application;
  EXPECT_NE(application.find("\nmissed = 0.2"), std::string::npos) << application;
  EXPECT_NE(application.find("split = [0.8, 0.2]"), std::string::npos) << application;
  EXPECT_NE(application.find("test = \"../test.csv\""), std::string::npos) << application;
  EXPECT_NE(application.find("bad_rows = \"skip\""), std::string::npos) << application;
  plan.base = AppBase{.folder = "../minilm"};
  EXPECT_NE(model_file_text(plan).find("from = \"../minilm\""), std::string::npos);
  EXPECT_EQ(model_file_text(plan).find("[tokenizer]"), std::string::npos) << "the folder has one";
  plan.base = AppBase{.run = "pretrained"};
  EXPECT_NE(model_file_text(plan).find("from = { run = \"pretrained\" }"), std::string::npos);
}

TEST(AppFiles, NameKeysOfJsonLines) {
  AppFilesPlan plan = tickets();
  plan.survey.reader = "jsonl";
  plan.survey.text.name = "fields.body";
  const std::string model = model_file_text(plan);
  EXPECT_NE(model.find("text_key = \"fields.body\"\nlabel_key = \"kind\"\n"), std::string::npos) << model;
  EXPECT_EQ(model.find("delimiter"), std::string::npos) << model;
}

}  // namespace
}  // namespace encore::app
