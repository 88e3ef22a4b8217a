#include "cli/command_line.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/verbs.hpp"

namespace encore {
namespace {

namespace po = boost::program_options;

CommandLine make_line() {
  CommandLine line("sample",
                   {"sample FILE [WORD]...", "Does nothing.", {{"exp sample a.txt", "an example"}}});
  line.options()("seed", po::value<int>()->default_value(1), "a number");
  line.options()("json", po::bool_switch(), "as JSON");
  line.options()("set,S", po::value<std::vector<std::string>>(), "key=value");
  line.positional("file");
  line.positional("word", -1);
  return line;
}

std::string refusal(const Arguments& arguments) {
  CommandLine line = make_line();
  try {
    line.parse(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CommandLine, TakesOptionsAndPositionalArgumentsInAnyOrder) {
  CommandLine line = make_line();
  ASSERT_TRUE(line.parse({"--seed", "7", "a.txt", "-S", "x=1", "one", "two", "-Sy=2", "--json"}));
  EXPECT_EQ(line.integer("seed"), 7);
  EXPECT_EQ(line.text("file"), "a.txt");
  EXPECT_EQ(line.texts("word"), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(line.texts("set"), (std::vector<std::string>{"x=1", "y=2"}));
  EXPECT_TRUE(line.flag("json"));
}

TEST(CommandLine, WhatIsNotGivenIsEmpty) {
  CommandLine line = make_line();
  ASSERT_TRUE(line.parse({}));
  EXPECT_EQ(line.text("file"), "");
  EXPECT_TRUE(line.texts("word").empty());
  EXPECT_FALSE(line.flag("json"));
}

TEST(CommandLine, RefusesAnUnknownOptionAndNamesTheNearest) {
  EXPECT_EQ(refusal({"--jsn"}),
            "unknown option --jsn; did you mean \"--json\"? (exp sample -h shows what there is)");
}

TEST(CommandLine, RefusesAbbreviationsTooManyArgumentsAndWrongNumbers) {
  EXPECT_NE(refusal({"--see", "3"}).find("unknown option --see"), std::string::npos);
  EXPECT_NE(refusal({"--seed", "three"}).find("seed"), std::string::npos);
  EXPECT_NE(refusal({"--seed"}).find("seed"), std::string::npos);
  CommandLine line("small", {"small FILE", "", {}});
  line.positional("file");
  EXPECT_THROW(line.parse({"a", "b"}), UsageError);
}

TEST(CommandLine, AMissingArgumentIsNamed) {
  CommandLine line = make_line();
  ASSERT_TRUE(line.parse({}));
  try {
    line.required("file", "an experiment file");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "exp sample needs an experiment file (exp sample -h shows an example)");
  }
}

TEST(CommandLine, TheDatabaseIsThatOfTheOptionThenOfTheEnvironmentThenTheDefault) {
  ::setenv("ENCORE_DB", "/data/all.db", 1);
  CommandLine given = make_line();
  ASSERT_TRUE(given.parse({"--db", "mine.db"}));
  EXPECT_EQ(given.database(), "mine.db");
  CommandLine environment = make_line();
  ASSERT_TRUE(environment.parse({}));
  EXPECT_EQ(environment.database(), "/data/all.db");
  ::unsetenv("ENCORE_DB");
  EXPECT_EQ(environment.database(), "encore.db");
  CommandLine empty = make_line();
  ASSERT_TRUE(empty.parse({"--db", ""}));
  EXPECT_THROW(empty.database(), UsageError);
}

TEST(CommandLine, HelpPrintsSynopsisOptionsAndExample) {
  CommandLine line = make_line();
  ::testing::internal::CaptureStdout();
  EXPECT_FALSE(line.parse({"-h"}));
  const std::string text = ::testing::internal::GetCapturedStdout();
  for (const char* part :
       {"exp sample FILE", "Does nothing.", "--seed", "--db PATH", "example: exp sample a.txt"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

void expect_help(const Verb& verb, const std::string& command) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(verb.run({"-h"}), exit_done) << command;
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(text.rfind(command, 0), 0u) << text;
  EXPECT_NE(text.find("example: " + command), std::string::npos) << text;
}

TEST(Verbs, EachHasAHelpWithAnExampleOfItself) {
  for (const Verb& verb : verbs()) expect_help(verb, std::string("exp ") + verb.name);
  for (const Verb& verb : verbs())
    if (verb.actions != nullptr)
      for (const Verb& action : verb.actions())
        expect_help(action, std::string("exp ") + verb.name + " " + action.name);
}

TEST(Verbs, AnUnknownOneNamesTheNearest) {
  try {
    find_verb("shwo");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "unknown verb \"shwo\"; did you mean \"show\"? (exp help lists all)");
  }
  EXPECT_THROW(find_verb("transmogrify"), UsageError);
}

}  // namespace
}  // namespace encore
