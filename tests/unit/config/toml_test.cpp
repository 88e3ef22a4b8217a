// TOML to values: places, the order of the file, and where a file that is no TOML is pointed at.
#include "config/toml.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace encore {
namespace {

std::string problem(const std::string& text) {
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

TEST(Toml, PointsAtWhatIsNoToml) {
  EXPECT_EQ(problem("a = 1\nb = = 2\n").substr(0, 20), "a.toml:2:5: not TOML");
  EXPECT_EQ(problem("[model\nwidth = 1\n").substr(0, 10), "a.toml:1:7");
  EXPECT_NE(problem("a = \"\xff\"\n").find("invalid utf-8"), std::string::npos);
}

TEST(Toml, RefusesAKeyThatStandsTwice) {
  EXPECT_NE(problem("a = 1\na = 2\n").find("cannot redefine existing integer 'a'"), std::string::npos);
  EXPECT_NE(problem("[a]\n[a]\n"), "no problem");
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
}  // namespace encore
