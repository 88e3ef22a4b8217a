// SPDX-License-Identifier: BSD-3-Clause
// Tests validate() (config/validate.hpp), which checks one table against the schema of its options, for core
// tables and plugins alike: defaults, accepted values, and the exact messages, whose words may change, for
// unknown names, wrong types, ranges and choices; also resolve_path() and expand_variables() for options that
// are paths. resolve_test.cpp tests whole experiments.
#include "config/validate.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/limits.hpp"
#include "config/origin.hpp"
#include "config/toml.hpp"

namespace encore::config {
namespace {

Schema schema() {
  return Schema()
      .boolean("bias", true, {.help = "add a bias"})
      .integer("heads", 4, {.help = "number of heads", .min = 1, .max = 64})
      .number("dropout", 0.1, {.help = "share", .min = 0, .max = 1, .exclusive_max = true})
      .number("scale", 1.0, {.help = "factor", .min = 0, .exclusive_min = true})
      .number("shift", 0.0, {.help = "summand"})
      .choice("activation", "relu", {"relu", "gelu", "swish"}, {.help = "function"})
      .text_list("words", {}, {.help = "words"})
      .optional("vocab", OptionType::path, {.help = "file"});
}

/// Checks a table of [model.layer.attention] with this text and adds what is wrong to `problems`.
ValidTable check(const std::string& text, Problems& problems, const Schema& options = schema()) {
  return validate(parse_toml(text, "sweep.toml"), options,
                  {"model.layer.attention", "layer \"self_attention\""}, problems);
}

/// Returns the first message about the table, or "no problem".
std::string validation_problem(const std::string& text, const Schema& options = schema()) {
  Problems problems;
  check(text, problems, options);
  return problems.empty() ? "no problem" : problems.all().front().text();
}

TEST(Validate, FillsInDefaultsAndSaysWhereEachValueComesFrom) {
  Problems problems;
  const ValidTable table = check("heads = 8\n", problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(table.options.integer("heads"), 8);
  EXPECT_EQ(table.options.number("dropout"), 0.1);
  EXPECT_TRUE(table.options.flag("bias"));
  EXPECT_FALSE(table.options.has("vocab"));
  EXPECT_TRUE(table.options.given("heads"));
  EXPECT_FALSE(table.options.given("dropout"));
  EXPECT_FALSE(table.options.given("vocab"));
  EXPECT_TRUE(check("dropout = 0.1\n", problems).options.given("dropout")) << "also where it is the default";
  EXPECT_EQ(table.origin.at("model.layer.attention.heads").source, Source::file);
  EXPECT_EQ(table.origin.at("model.layer.attention.heads").place.text(), "sweep.toml:1:9");
  EXPECT_EQ(table.origin.at("model.layer.attention.dropout").source, Source::fallback);
}

TEST(Validate, RefusesNulAndAnEmptyPathThatIsNeeded) {
  const std::string nul = "holds the character U+0000, which text and paths cannot have";
  EXPECT_EQ(validation_problem("vocab = \"a\\u0000b\"\n"),
            "sweep.toml:1:9: option \"vocab\" of layer \"self_attention\" " + nul);
  EXPECT_EQ(validation_problem("words = [\"a\", \"\\u0000\"]\n"),
            "sweep.toml:1:9: option \"words\" of layer \"self_attention\" " + nul);
  EXPECT_EQ(validation_problem("vocab = \"\"\n"), "no problem") << "for an option that may be left out";
  const Schema needed = Schema().required("train", OptionType::path, {.help = "file"});
  EXPECT_EQ(validation_problem("train = \"\"\n", needed),
            "sweep.toml:1:9: option \"train\" of layer \"self_attention\" must be a path in quotes, found an "
            "empty one");
}

TEST(Validate, StopsAfterTooManyProblems) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "zkey" + std::to_string(i) + " = 1\n";
  Problems problems;
  check(text, problems);
  EXPECT_EQ(problems.all().size(), most_problems);
}

TEST(Validate, AcceptsAnIntegerAsANumber) {
  Problems problems;
  EXPECT_EQ(check("scale = 2\n", problems).options.number("scale"), 2.0);
  EXPECT_TRUE(problems.empty());
}

TEST(Validate, AcceptsTheEndsOfARange) {
  EXPECT_EQ(validation_problem("heads = 1\ndropout = 0\n"), "no problem");
  EXPECT_EQ(validation_problem("heads = 64\ndropout = 0.999\n"), "no problem");
}

TEST(Validate, SuggestsTheNearestName) {
  EXPECT_EQ(
      validation_problem("heads = 2\n\n  dropuot = 0.1\n"),
      "sweep.toml:3:3: unknown option \"dropuot\" of layer \"self_attention\"; did you mean \"dropout\"?");
}

TEST(Validate, ListsTheOptionsWhereNoNameIsNear) {
  EXPECT_EQ(validation_problem("momentum = 2\n", Schema().integer("heads", 4, {}).number("dropout", 0.1, {})),
            "sweep.toml:1:1: unknown option \"momentum\" of layer \"self_attention\"; it takes \"heads\", "
            "\"dropout\"");
  EXPECT_EQ(validation_problem("momentum = 2\n", Schema()),
            "sweep.toml:1:1: unknown option \"momentum\" of layer \"self_attention\"; it takes no options");
}

TEST(Validate, SaysWhichTypeWasFound) {
  const std::string where = "sweep.toml:1:", what = " of layer \"self_attention\" must be ";
  EXPECT_EQ(validation_problem("heads = \"six\""),
            where + "9: option \"heads\"" + what + "an integer, found text \"six\"");
  EXPECT_EQ(validation_problem("heads = 6.0"),
            where + "9: option \"heads\"" + what + "an integer, found the number 6.0");
  EXPECT_EQ(validation_problem("bias = 1"),
            where + "8: option \"bias\"" + what + "true or false, found the integer 1");
  EXPECT_EQ(validation_problem("dropout = []"),
            where + "11: option \"dropout\"" + what + "a number, found an empty list");
  EXPECT_EQ(validation_problem("vocab = {}"),
            where + "9: option \"vocab\"" + what + "a path in quotes, found a table");
  EXPECT_EQ(validation_problem("words = \"a\""),
            where + "9: option \"words\"" + what + "a list of text in quotes, found text \"a\"");
  EXPECT_EQ(
      validation_problem("words = [\"a\", 3]"),
      where + "9: option \"words\"" + what + "a list of text in quotes, found the integer 3 in the list");
  EXPECT_EQ(validation_problem("activation = 2026-01-02"),
            where + "14: option \"activation\"" + what +
                "\"relu\", \"gelu\" or \"swish\", found the date 2026-01-02");
}

TEST(Validate, SaysWhichRangeWasLeft) {
  const std::string where = "sweep.toml:1:", what = " of layer \"self_attention\" must be ";
  EXPECT_EQ(validation_problem("heads = 0"),
            where + "9: option \"heads\"" + what + "at least 1 and at most 64, found the integer 0");
  EXPECT_EQ(validation_problem("dropout = 1"),
            where + "11: option \"dropout\"" + what + "at least 0 and below 1, found the integer 1");
  EXPECT_EQ(validation_problem("scale = 0.0"),
            where + "9: option \"scale\"" + what + "above 0, found the number 0.0");
  EXPECT_EQ(validation_problem("shift = inf"),
            where + "9: option \"shift\"" + what + "finite, found the number inf");
  EXPECT_EQ(validation_problem("shift = nan"),
            where + "9: option \"shift\"" + what + "finite, found the number nan");
}

TEST(Validate, SuggestsTheNearestChoice) {
  EXPECT_EQ(validation_problem("activation = \"rleu\""),
            "sweep.toml:1:14: option \"activation\" of layer \"self_attention\" must be \"relu\", \"gelu\" "
            "or \"swish\", "
            "found text \"rleu\"; did you mean \"relu\"?");
}

TEST(Validate, NamesWhatIsMissing) {
  EXPECT_EQ(
      validation_problem(
          "", Schema().required("hidden", OptionType::integer, {.help = "size of the hidden layer"})),
      "sweep.toml:1:1: option \"hidden\" of layer \"self_attention\" is missing; it must be an integer (size "
      "of "
      "the "
      "hidden layer)");
}

TEST(Validate, ReportsAllProblemsInTheOrderOfTheFile) {
  Problems problems;
  check("bias = 3\nheads = 0\nwhat = 1\n", problems);
  try {
    problems.require_none();
    FAIL() << "problems were lost";
  } catch (const ConfigErrors& errors) {
    ASSERT_EQ(errors.problems().size(), 3U);
    EXPECT_EQ(errors.problems()[0].key, "model.layer.attention.bias");
    EXPECT_EQ(errors.problems()[1].place.line, 2);
    EXPECT_EQ(errors.problems()[2].place.line, 3);
  }
}

TEST(Paths, AreRelativeToTheFileThatNamesThem) {
  const Origin file{Source::file, {"some/where/a.toml", 3, 1}};
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(resolve_path("x/../vocab.txt", file, {}), here + "/some/where/vocab.txt");
  EXPECT_EQ(resolve_path("vocab.txt", file, "/data"), "/data/vocab.txt");
  EXPECT_EQ(resolve_path("/abs/vocab.txt", file, "/data"), "/abs/vocab.txt");
  EXPECT_EQ(resolve_path("vocab.txt", {Source::command_line, {"-S a=b", 0, 0}}, {}), here + "/vocab.txt");
  EXPECT_EQ(resolve_path("", file, {}), "");
}

TEST(Paths, ExpandVariables) {
  ::setenv("ENCORE_TEST_FOLDER", "/data", 1);
  EXPECT_EQ(expand_variables("${ENCORE_TEST_FOLDER}/a/${ENCORE_TEST_FOLDER}"), "/data/a//data");
  EXPECT_EQ(expand_variables("$HOME/a"), "$HOME/a");
}

TEST(Paths, RefuseAVariableThatIsNotSet) {
  ::unsetenv("ENCORE_TEST_UNSET");
  EXPECT_EQ(validation_problem("vocab = \"${ENCORE_TEST_UNSET}/v.txt\""),
            "sweep.toml:1:9: option \"vocab\" of layer \"self_attention\" uses ${ENCORE_TEST_UNSET}, but the "
            "environment "
            "variable ENCORE_TEST_UNSET is not set; set it, as in: export ENCORE_TEST_UNSET=/some/folder");
  EXPECT_EQ(validation_problem("vocab = \"${OPEN/v.txt\""),
            "sweep.toml:1:9: option \"vocab\" of layer \"self_attention\" has \"${\" without \"}\" in "
            "\"${OPEN/v.txt\"");
}

}  // namespace
}  // namespace encore::config
