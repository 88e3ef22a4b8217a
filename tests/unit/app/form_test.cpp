// SPDX-License-Identifier: BSD-3-Clause
// Tests Form::check() (app/form.hpp): the rules that a verb declares for its request (required fields,
// ranges, fields that exclude or need each other) also reject a request that a program filled without a
// command line. The messages are those that users see; their words may change. cli/binder_test.cpp tests what
// makes a request of a command line by a form.
#include "app/form.hpp"

#include <gtest/gtest.h>

#include "app/run_session.hpp"

namespace encore::app {
namespace {

/// A part of a request that several verbs share, as app/run_selection.hpp is one.
struct Part {
  std::vector<std::string> states;
  std::optional<std::string> where;
};

Form<Part> part_form() {
  return Form<Part>("", {"", "A paragraph of the part.", {}})
      .option("state", &Part::states, "STATE", "only these")
      .option("where", &Part::where, "SQL", "a condition")
      .refuse([](const Part& part) { return std::string(part.where == "" ? "--where is empty" : ""); });
}

struct Sample {
  std::string file;
  int retries = 3;
  std::optional<int> jobs = {};
  double share = 0.5;
  bool json = false, csv = false, size = false;
  Part part = {};
};

Form<Sample> sample_form() {
  using S = Sample;
  return Form<S>("sample", {"sample FILE", "Does nothing.", {{"exp sample a.txt", "an example"}}})
      .argument("file", &S::file, "a file")
      .option("retries", &S::retries, "N", "a number")
      .option("jobs,j", &S::jobs, "N", "another")
      .usual("1")
      .option("share", &S::share, "SHARE", "a share")
      .flag("json", &S::json, "as JSON")
      .flag("csv", &S::csv, "as CSV")
      .flag("size", &S::size, "the size")
      .include(&S::part, part_form())
      .least("retries", 0, "--retries is negative")
      .least("jobs", 1, "-j {} would run nothing")
      .range("share", 0.0, 1.0, "--share is {}; it must be from 0 to 1")
      .exclude("json", "csv")
      .needs("size", "json", "--size needs --json");
}

/// Returns the message with which the request is rejected; empty if it is accepted.
std::string refusal(const Sample& sample) {
  try {
    sample_form().check(&sample);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Form, AcceptsARequestWithItsDefaults) {
  EXPECT_EQ(refusal({.file = "a"}), "");
}

TEST(Form, NamesAMissingArgument) {
  EXPECT_EQ(refusal({}), "exp sample needs a file (exp sample -h shows an example)");
}

TEST(Form, RejectsValuesOutsideOfARangeWithTheValue) {
  EXPECT_EQ(refusal({.file = "a", .retries = -1}), "--retries is negative");
  EXPECT_EQ(refusal({.file = "a", .jobs = 0}), "-j 0 would run nothing");
  EXPECT_EQ(refusal({.file = "a", .share = 1.5}), "--share is 1.5; it must be from 0 to 1");
  EXPECT_EQ(refusal({.file = "a", .retries = 0, .jobs = 1, .share = 1.0}), "");
}

TEST(Form, RefusesFieldsThatExcludeOrNeedEachOther) {
  EXPECT_EQ(refusal({.file = "a", .json = true, .csv = true}), "--json and --csv exclude each other");
  EXPECT_EQ(refusal({.file = "a", .size = true}), "--size needs --json");
  EXPECT_EQ(refusal({.file = "a", .json = true, .size = true}), "");
}

TEST(Form, HoldsTheFieldsAndRulesOfItsParts) {
  EXPECT_EQ(refusal({.file = "a", .part = {.states = {}, .where = ""}}), "--where is empty");
  const Form<Sample> form = sample_form();
  EXPECT_EQ(form.help().purpose, "Does nothing.\nA paragraph of the part.");
  Sample sample{.file = "a"};
  EXPECT_FALSE(form.is_given("state", &sample));
  sample.part.states = {"failed"};
  EXPECT_TRUE(form.is_given("state", &sample));
}

TEST(Form, AFieldIsGivenWhereItDiffersFromItsDefault) {
  const Form<Sample> form = sample_form();
  Sample sample{.file = "a", .retries = 3, .jobs = 1};
  EXPECT_FALSE(form.is_given("retries", &sample));
  EXPECT_TRUE(form.is_given("jobs", &sample)) << "any value of an optional field counts";
}

TEST(Form, ARuleAboutAnUnknownFieldIsAProgrammingError) {
  EXPECT_THROW(sample_form().exclude("json", "xml"), std::logic_error);
}

TEST(Form, ASessionThatIsFilledByHandIsRefusedLikeACommand) {
  SessionRequest session;
  session.hosts = "a,b";
  try {
    session_options().check(&session);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "--hosts needs --launcher, the command that starts workers there, such as --launcher ssh");
  }
}

}  // namespace
}  // namespace encore::app
