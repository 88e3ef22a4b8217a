// SPDX-License-Identifier: BSD-3-Clause
// Tests parse_toml() (config/toml.hpp), through which all experiment files, overrides and site files are
// read: values keep their place, type and order, and text that is not TOML, or that nests so deep that a
// parser would run out of stack, is rejected with line and column. Existing files must be read as before; the
// words of messages may change.
#include "config/toml.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace encore::config {
namespace {

/// Returns the message with which the text is rejected.
std::string toml_problem(const std::string& text) {
  try {
    parse_toml(text, "a.toml");
  } catch (const ConfigErrors& errors) {
    return errors.what();
  }
  return "no problem";
}

TEST(Toml, KeepsLineAndColumnOfKeysAndValues) {
  const Value root = parse_toml("[model]\n  width = 8\n[model.layer.attention]\nheads = 2\n", "a.toml");
  const Value::Member* width = root.find("model")->value.find("width");
  EXPECT_EQ(width->key_origin.place.text(), "a.toml:2:3");
  EXPECT_EQ(width->value.origin.place.text(), "a.toml:2:11");
  EXPECT_EQ(root.at({"model", "layer", "attention"})->origin.place.text(), "a.toml:3:1");
  EXPECT_EQ(root.at({"model", "layer", "attention", "heads"})->origin.place.text(), "a.toml:4:9");
  EXPECT_EQ(root.origin.place.text(), "a.toml:1:1");
}

TEST(Toml, KeepsTheOrderOfTheFile) {
  const Value root = parse_toml("[sweep.grid]\n\"z.b\" = [1]\n\"a.b\" = [2]\nm.n = [3]\n", "a.toml");
  std::string order;
  for (const Value::Member& member : root.at({"sweep", "grid"})->table()) order += member.key + " ";
  EXPECT_EQ(order, "z.b a.b m ");
}

TEST(Toml, KeepsTypes) {
  const Value root =
      parse_toml("a = 1\nb = 1.0\nc = true\nd = 'x'\ne = [1, 'y']\nf = 2026-01-02\n", "a.toml");
  EXPECT_EQ(describe(root.find("a")->value), "the integer 1");
  EXPECT_EQ(describe(root.find("b")->value), "the number 1.0");
  EXPECT_EQ(describe(root.find("c")->value), "true");
  EXPECT_EQ(describe(root.find("d")->value), "text \"x\"");
  EXPECT_EQ(describe(root.find("e")->value), "a list");
  EXPECT_EQ(describe(root.find("f")->value), "the date 2026-01-02");
}

TEST(Toml, PointsAtInvalidToml) {
  EXPECT_EQ(toml_problem("a = 1\nb = = 2\n").substr(0, 20), "a.toml:2:5: not TOML");
  EXPECT_EQ(toml_problem("[model\nwidth = 1\n").substr(0, 10), "a.toml:1:7");
  EXPECT_NE(toml_problem("a = \"\xff\"\n").find("invalid utf-8"), std::string::npos);
}

TEST(Toml, RefusesCharactersOutsideQuotesThatAreNotAscii) {
  const auto message = [](const std::string& character) {
    return "not TOML: the character " + character +
           " outside quotes; text needs straight quotes, \"like this\"";
  };
  EXPECT_EQ(toml_problem("a = 'ü' # ü\nb = \u201Cx\u201D\n"), "a.toml:2:5: " + message("\u201C (U+201C)"));
  EXPECT_EQ(toml_problem("größe = 1\n"), "a.toml:1:3: " + message("ö (U+00F6)"));
  EXPECT_EQ(toml_problem("[ä]\n"), "a.toml:1:2: " + message("ä (U+00E4)"));
  EXPECT_EQ(toml_problem("a\u00A0= 1\n"), "a.toml:1:2: " + message("\u00A0 (U+00A0)"));
  EXPECT_EQ(toml_problem("a = [1, {\U0001F600 = 2}]\n"), "a.toml:1:10: " + message("\U0001F600 (U+1F600)"));
  // toml++ 3.3 ends in a branch that it declares unreachable if such a character continues a value.
  EXPECT_EQ(toml_problem("a = 1e\u0301\n"), "a.toml:1:7: " + message("\u0301 (U+0301)"));
  EXPECT_EQ(toml_problem("a = tru\u00E9\n"), "a.toml:1:8: " + message("é (U+00E9)"));
  EXPECT_EQ(toml_problem("\"ä\" = 'ü'\nb = \"\"\"\nö\n\"\"\" # é\n"), "no problem");
  EXPECT_NE(toml_problem("a = \xC3\n").find("invalid utf-8"), std::string::npos);
  EXPECT_THROW(parse_key("größe"), Error);
  EXPECT_EQ(parse_key("a.\"ö\"").back(), "ö");
}

TEST(Toml, RefusesAKeyThatStandsTwice) {
  EXPECT_NE(toml_problem("a = 1\na = 2\n").find("cannot redefine existing integer 'a'"), std::string::npos);
  for (const char* quoted : {"[t]\n\"model.layers\" = [1]\n\"model.layers\" = [2]\n",
                             "t = { \"x y\" = [1], z = 2, 'x y' = 3 }\n"}) {
    const std::string problem = toml_problem(quoted);
    EXPECT_TRUE(problem.ends_with("cannot redefine existing array; the key stands twice")) << problem;
  }
  EXPECT_NE(toml_problem("[a]\n[a]\n"), "no problem");
}

/// Returns a dotted key with this number of parts: "a.a.a".
std::string dots(std::size_t parts) {
  std::string key = "a";
  for (std::size_t i = 1; i < parts; ++i) key += ".a";
  return key;
}

TEST(Toml, RefusesKeysAndTablesThatNestTooDeep) {
  const std::string deep = "keys, tables and lists nest more than 100 levels deep here";
  EXPECT_EQ(toml_problem(dots(101) + " = 1\n"), "no problem");
  EXPECT_EQ(toml_problem("x = 1\n" + dots(102) + " = 1\n"), "a.toml:2:202: " + deep);
  EXPECT_EQ(toml_problem(dots(8000) + " = 1\n"), "a.toml:1:202: " + deep);
  EXPECT_EQ(toml_problem("[" + dots(8000) + "]\n"), "a.toml:1:203: " + deep);
  EXPECT_EQ(toml_problem("[[" + dots(8000) + "]]\n"), "a.toml:1:204: " + deep);
  EXPECT_EQ(toml_problem("[" + dots(60) + "]\n" + dots(60) + " = 1\n"), "a.toml:2:82: " + deep);
  EXPECT_EQ(toml_problem("x = " + std::string(100000, '[')), "a.toml:1:105: " + deep);
  std::string tables;
  for (int i = 0; i < 200; ++i) tables += "{" + dots(50) + "=";
  EXPECT_EQ(toml_problem("x = " + tables), "a.toml:1:207: " + deep) << "dotted keys within tables add up";
}

TEST(Toml, NothingHidesAKeyThatNestsTooDeep) {
  const std::string deep = "keys, tables and lists nest more than 100 levels deep here";
  for (const std::string before :
       {"a = [\"\"\"x\"\"\"\", {", "a = ['''x''''', {", "a = [\"\", {", "a = [\"\\\"\", {", "a = [[1], {",
        "a = [ # ]\n{", "a = [\n\"\"\"\\\"\"\"\"\"\", {", "a = {b = 1, "})
    EXPECT_TRUE(toml_problem(before + dots(8000) + " = 1}]").ends_with(deep)) << before;
  EXPECT_TRUE(toml_problem("\xEF\xBB\xBF[" + dots(8000) + "]").ends_with(deep));
  EXPECT_TRUE(toml_problem("  [ " + dots(8000) + "]").ends_with(deep));
  EXPECT_TRUE(toml_problem("[a] # [\n" + dots(8000) + " = 1").ends_with(deep));
}

TEST(Toml, CountsOnlyWhatNests) {
  const std::string many = std::string(300, '.') + std::string(300, '[') + std::string(300, '{');
  EXPECT_EQ(toml_problem("a = \"" + many + "\\\"" + many + "\"\nb = '" + many + "' # " + many + "\n"),
            "no problem");
  EXPECT_EQ(toml_problem("a = \"\"\"\n" + many + "\n\"\"\"\nb = '''\n" + many + "'''\n"), "no problem");
  std::string lists, keys, tables;
  for (int i = 0; i < 300; ++i) {
    lists += "[1.5, {a.b = 2}],\n";
    keys += "k" + std::to_string(i) + ".a.b = 1.5\n";
    tables += "[t" + std::to_string(i) + ".a.b]\n";
  }
  EXPECT_EQ(toml_problem("a = [" + lists + "]\n" + keys + tables), "no problem");
  EXPECT_EQ(toml_problem("a = [\n[1],\n]\n[b]\nc = 1\n"), "no problem");
}

TEST(Toml, RefusesANameOfAnOptionWithTooManyParts) {
  EXPECT_EQ(parse_key(dots(101)).size(), 101U);
  try {
    parse_key(dots(60000));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "\"" + dots(30) +
                                             "....\" has more than the 100 parts that the name of an "
                                             "option may have");
  }
}

TEST(Toml, ReadsDottedKeys) {
  EXPECT_EQ(parse_key("model.width"), (std::vector<std::string>{"model", "width"}));
  EXPECT_EQ(parse_key("a.'b.c'"), (std::vector<std::string>{"a", "b.c"}));
  EXPECT_THROW(parse_key("model width"), Error);
  EXPECT_THROW(parse_key("a..b"), Error);
  EXPECT_THROW(parse_key(""), Error);
  EXPECT_THROW(parse_key("a = 1\nb"), Error);
}

TEST(Value, WritesTheShortestNumberThatReadsBackEqual) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(5e-4), "5e-4");
  EXPECT_EQ(shortest(1e22), "1e22");
  EXPECT_EQ(shortest(3.0), "3");
  EXPECT_EQ(shortest(-0.0), "0");
  EXPECT_EQ(shortest(1.0 / 3.0), "0.3333333333333333");
  for (const double number : {1e-300, 5e-324, 1.7976931348623157e308, 123456789.125, -1e-5, 100.0})
    EXPECT_EQ(std::strtod(shortest(number).c_str(), nullptr), number);
}

TEST(Value, SetsAPathAndMakesTablesOnTheWay) {
  Value root{Value::Table{}, {}};
  EXPECT_TRUE(root.set({"a", "b"}, {std::int64_t{1}, {}}, {}));
  EXPECT_TRUE(root.set({"a", "b"}, {std::int64_t{2}, {}}, {}));
  EXPECT_EQ(to_text(root), "{a = {b = 2}}");
  EXPECT_FALSE(root.set({"a", "b", "c"}, {std::int64_t{3}, {}}, {}));
}

}  // namespace
}  // namespace encore::config
