// SPDX-License-Identifier: BSD-3-Clause
// Tests the binder (cli/binder.hpp), which every verb of `exp` uses: it fills a request from a command line
// by the verb's form, rejects wrong options with the message that users see, and prints the help. The
// messages may change, together with these tests, which compare them word by word. app/form_test.cpp tests
// the rules of a form without a command line.
#include "cli/binder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

namespace encore::cli {
namespace {

/// A request with each type of field, as the verbs have them.
struct Sample {
  std::string file;
  std::vector<std::string> words, set;
  int seed = 1;
  std::optional<double> share;
  std::optional<std::string> text;
  bool json = false;
};

app::Form<Sample> sample_form() {
  using S = Sample;
  return app::Form<S>("sample",
                      {"sample FILE [WORD]...", "Does nothing.", {{"exp sample a.txt", "an example"}}})
      .option("seed", &S::seed, "N", "a number")
      .flag("json", &S::json, "as JSON")
      .option("set,S", &S::set, "KEY=VALUE", "key=value")
      .option("share", &S::share, "SHARE", "a share")
      .alone("1")
      .option("text", &S::text, "TEXT", "a text")
      .argument("file", &S::file)
      .argument("word", &S::words);
}

/// A call of the binder with these words: what it printed, the request that it filled, and whether the verb
/// would run (`bound`), which it does not after --help.
struct Call {
  std::ostringstream out, err;
  Console console{out, err};
  Sample sample;
  bool bound = false;

  explicit Call(const Arguments& arguments) {
    bound = read_request(sample_form(), arguments, &sample, console);
  }
};

/// Returns the message with which the words are rejected.
std::string refusal(const Arguments& arguments) {
  try {
    const Call call(arguments);
  } catch (const app::UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Binder, TakesOptionsAndArgumentsInAnyOrder) {
  const Call call({"--seed", "7", "a.txt", "-S", "x=1", "one", "two", "-Sy=2", "--json"});
  EXPECT_TRUE(call.bound);
  EXPECT_EQ(call.sample.seed, 7);
  EXPECT_EQ(call.sample.file, "a.txt");
  EXPECT_EQ(call.sample.words, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(call.sample.set, (std::vector<std::string>{"x=1", "y=2"}));
  EXPECT_TRUE(call.sample.json);
}

TEST(Binder, OmittedOptionsHaveTheirDefault) {
  const Call call({});
  EXPECT_EQ(call.sample.file, "");
  EXPECT_EQ(call.sample.seed, 1);
  EXPECT_TRUE(call.sample.words.empty());
  EXPECT_FALSE(call.sample.json);
  EXPECT_FALSE(call.sample.share);
  EXPECT_FALSE(call.sample.text);
}

TEST(Binder, AnOptionMayHaveAValueOfItsOwnAndAnEmptyOne) {
  EXPECT_EQ(Call({"--share"}).sample.share, 1.0);
  EXPECT_EQ(Call({"--share=0.25"}).sample.share, 0.25);
  EXPECT_EQ(Call({"--text", ""}).sample.text, "");
}

TEST(Binder, RefusesAnUnknownOptionAndNamesTheNearest) {
  EXPECT_EQ(refusal({"--jsn"}),
            "unknown option --jsn; did you mean \"--json\"? (exp sample -h shows the options)");
}

TEST(Binder, RefusesAbbreviationsRepetitionsAndWrongNumbers) {
  EXPECT_NE(refusal({"--see", "3"}).find("unknown option --see"), std::string::npos);
  EXPECT_EQ(refusal({"--seed", "three"}),
            "the argument ('three') for option '--seed' is invalid (exp sample -h shows the options)");
  EXPECT_NE(refusal({"--seed", "1.5"}).find("invalid"), std::string::npos);
  EXPECT_NE(refusal({"--seed"}).find("seed"), std::string::npos);
  EXPECT_NE(refusal({"--seed", "1", "--seed", "2"}).find("more than once"), std::string::npos);
  struct Small {
    std::string file;
  } small;
  std::ostringstream out;
  Console console(out, out);
  EXPECT_THROW(read_request(app::Form<Small>("small", {"small FILE", "", {}}).argument("file", &Small::file),
                            {"a", "b"}, &small, console),
               app::UsageError);
}

TEST(Binder, TheDatabaseIsThatOfTheOptionThenOfTheEnvironmentThenTheDefault) {
  ::setenv("ENCORE_DB", "/data/all.db", 1);
  EXPECT_EQ(database_of(Call({"--db", "mine.db"}).console), "mine.db");
  EXPECT_EQ(database_of(Call({}).console), "/data/all.db");
  ::unsetenv("ENCORE_DB");
  EXPECT_EQ(database_of(Call({}).console), "encore.db");
  EXPECT_THROW(database_of(Call({"--db", ""}).console), app::UsageError);
}

TEST(Binder, HelpHasSynopsisOptionsDefaultsAndExample) {
  const Call call({"-h"});
  EXPECT_FALSE(call.bound);
  const std::string text = call.out.str();
  for (const char* part : {"exp sample FILE", "Does nothing.", "--seed N (=1)", "--db PATH",
                           "-S [ --set ] KEY=VALUE", "example: exp sample a.txt"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

}  // namespace
}  // namespace encore::cli
