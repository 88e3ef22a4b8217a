// SPDX-License-Identifier: BSD-3-Clause
// Tests Expression (plan/expression.hpp), the conditions of exclude and when in [sweep] and [search]:
// precedence, types, limits of nesting, and messages that point at the mistake. Experiment files contain such
// conditions, so a valid one must keep its meaning; messages may change.
#include "plan/expression.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace encore::plan {
namespace {

const nlohmann::json config = {{"model",
                                {{"layers", 12},
                                 {"dropout", 0.3},
                                 {"norm", "layer_norm"},
                                 {"block", {"a", "b"}},
                                 {"head", {{"bias", true}}}}},
                               {"train", {{"epochs", 5}}}};

bool holds(const std::string& text) {
  return Expression::parse(text).holds(config);
}

std::string outcome(const std::string& text) {
  try {
    return holds(text) ? "holds" : "does not hold";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Expression, ComparesOptionsWithValues) {
  EXPECT_TRUE(holds("model.layers == 12"));
  EXPECT_TRUE(holds("model.layers != 4"));
  EXPECT_TRUE(holds("model.dropout >= 0.3 "));
  EXPECT_FALSE(holds("model.dropout < 3e-1"));
  EXPECT_TRUE(holds("model.dropout > -1"));
  EXPECT_TRUE(holds("model.norm == 'layer_norm'"));
  EXPECT_TRUE(holds("model.norm != \"rms_norm\""));
  EXPECT_TRUE(holds("model.head.bias == true"));
  EXPECT_TRUE(holds("12 == model.layers"));
  EXPECT_TRUE(holds("train.epochs < model.layers"));
}

TEST(Expression, JoinsConditions) {
  EXPECT_TRUE(holds("model.layers == 12 && model.dropout == 0.3"));
  EXPECT_FALSE(holds("model.layers == 12 && model.dropout == 0.1"));
  EXPECT_TRUE(holds("model.layers == 4 || model.dropout == 0.3"));
  EXPECT_TRUE(holds("true || true && false")) << "&& binds closer";
  EXPECT_FALSE(holds("(true || true) && false"));
  EXPECT_TRUE(holds("!(model.layers == 4)"));
  EXPECT_FALSE(holds("!model.head.bias"));
  EXPECT_TRUE(holds("!!model.head.bias&&model.layers==12"));
}

TEST(Expression, NestsAsDeepAsItMayAndNoDeeper) {
  const auto nested = [](std::size_t levels) {
    return outcome(std::string(levels, '(') + "true" + std::string(levels, ')'));
  };
  EXPECT_EQ(nested(100), "holds");
  EXPECT_EQ(nested(101), "nested more than 100 levels deep at character 102");
  EXPECT_EQ(nested(20000), "nested more than 100 levels deep at character 102");
  EXPECT_EQ(outcome(std::string(100, '!') + "true"), "holds");
  EXPECT_EQ(outcome(std::string(1000000, '!') + "true"), "nested more than 100 levels deep at character 102");
}

TEST(Expression, AChainIsLongWithoutBeingDeep) {
  std::string both = "true", either = "false";
  for (int i = 0; i < 200000; ++i) {
    both += " && true";
    either += " || false";
  }
  EXPECT_EQ(outcome(both), "holds");
  EXPECT_EQ(outcome(either), "does not hold");
  EXPECT_TRUE(holds("(false || true) || false"));
  EXPECT_FALSE(holds("(true && true) && false"));
}

TEST(Expression, IsFalseForAnOptionThatTheRunLacks) {
  EXPECT_FALSE(holds("model.layer.attention.window > 3"));
  EXPECT_FALSE(holds("model.layer.attention.window != 3"));
  EXPECT_FALSE(holds("model.layers.x == 3"));
  EXPECT_EQ(Expression::parse("a.b == 1 || !(c && d.e < f)").keys(),
            (std::vector<std::string>{"a.b", "c", "d.e", "f"}));
}

TEST(Expression, SaysWhatWasExpectedAndWhere) {
  const std::string signs = "expected ==, !=, <, <=, >, >=, && or || at character ";
  EXPECT_EQ(outcome("model.layers = 12"), signs + "14, found \"= 12\"");
  EXPECT_EQ(outcome("model.layers 12"), signs + "14, found \"12\"");
  EXPECT_EQ(outcome("model.layers == 12 and true"), "expected && or || at character 20, found \"and true\"");
  EXPECT_EQ(outcome(""), "expected an option or a value at character 1, found the end");
  EXPECT_EQ(outcome("model.layers =="), "expected an option or a value at character 16, found the end");
  EXPECT_EQ(outcome("(model.layers == 12"), "expected \")\" at character 20, found the end");
  EXPECT_EQ(outcome("model.norm == 'x"), "expected a closing ' at character 15, found \"'x\"");
  EXPECT_EQ(outcome("true && * 3"), "expected an option or a value at character 9, found \"* 3\"");
}

TEST(Expression, RefusesToCompareDifferentThings) {
  EXPECT_EQ(outcome("model.norm == 3"),
            "\"model.norm\" is text, 3 is a number: they cannot be compared with ==");
  EXPECT_EQ(outcome("model.head.bias < true"),
            "\"model.head.bias\" is true or false, true is true or false: they cannot be compared with <");
  EXPECT_EQ(outcome("model.head == 'linear'"),
            "\"model.head\" is a table, \"linear\" is text: they cannot be compared with ==");
  EXPECT_EQ(outcome("model.block == 'a'"),
            "\"model.block\" is a list, \"a\" is text: they cannot be compared with ==");
  EXPECT_EQ(outcome("model.layers"), "\"model.layers\" is a number; compare it, as in model.layers == 4");
}

}  // namespace
}  // namespace encore::plan
