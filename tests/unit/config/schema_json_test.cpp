// SPDX-License-Identifier: BSD-3-Clause
// Tests the JSON of schemas and of option values (config/schema_json.hpp), which manifests and specifications
// contain. Both read back equal, a float stays a float (1.0, not 1), and damaged JSON is rejected with its
// place. The format is stored, so members keep their names.
#include "config/schema_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace encore::config {
namespace {

using nlohmann::json;

std::string schema_problem(const std::string& text) {
  try {
    schema_from_json(json::parse(text));
  } catch (const Error& error) {
    return error.what();
  }
  return "no problem";
}

TEST(SchemaJson, ReadsBackWhatItWrites) {
  const Schema schema =
      Schema()
          .boolean("a", true, {.help = "flag"})
          .integer("b", 3, {.help = "count", .unit = "steps", .min = 0})
          .number("c", 1.0, {.help = "n", .min = 0, .max = 1, .exclusive_min = true, .exclusive_max = true})
          .choice("d", "x", {"x", "y"}, {})
          .text_list("e", {"p", "q"}, {})
          .required("f", OptionType::number, {})
          .optional("g", OptionType::path, {});
  const Schema back = schema_from_json(json::parse(schema_to_json(schema).dump()));
  ASSERT_EQ(back.options().size(), schema.options().size());
  for (std::size_t i = 0; i < back.options().size(); ++i) {
    const Option &a = schema.options()[i], &b = back.options()[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.type, b.type);
    EXPECT_EQ(a.fallback, b.fallback) << a.name;
    EXPECT_EQ(a.required, b.required);
    EXPECT_EQ(a.choices, b.choices);
    EXPECT_EQ(a.rule.help, b.rule.help);
    EXPECT_EQ(a.rule.unit, b.rule.unit);
    EXPECT_EQ(a.rule.min, b.rule.min);
    EXPECT_EQ(a.rule.max, b.rule.max);
    EXPECT_EQ(a.rule.exclusive_min, b.rule.exclusive_min);
    EXPECT_EQ(a.rule.exclusive_max, b.rule.exclusive_max);
  }
}

TEST(SchemaJson, KeepsNumbersNumbers) {
  EXPECT_EQ(option_value_to_json(OptionValue(1.0)).dump(), "1.0");
  EXPECT_EQ(option_value_from_json(json(2), OptionType::number), OptionValue(2.0));
  EXPECT_EQ(option_value_from_json(json(2), OptionType::integer), OptionValue(std::int64_t{2}));
}

TEST(SchemaJson, RejectsAnInvalidSchema) {
  EXPECT_EQ(schema_problem("{}"), "\"options\" must be a list, found {}");
  EXPECT_EQ(schema_problem("[3]"), "an option must be an object, found 3");
  EXPECT_EQ(schema_problem(R"([{"type": "text"}])"), "an option has no \"name\"");
  EXPECT_EQ(schema_problem(R"([{"name": "a"}])"), "option \"a\" has no \"type\"");
  EXPECT_EQ(schema_problem(R"([{"name": "a", "type": "complex"}])"),
            "option \"a\" has the unknown type \"complex\"");
  EXPECT_EQ(schema_problem(R"([{"name": "a", "type": "integer", "default": "x"}])"),
            "\"default\" of option \"a\" must be an integer, found \"x\"");
  EXPECT_EQ(schema_problem(R"([{"name": "a", "type": "integer", "min": "x"}])"),
            "\"min\" of option \"a\" has the wrong type: \"x\"");
  EXPECT_EQ(schema_problem(R"([{"name": "a", "type": "text"}, {"name": "a", "type": "text"}])"),
            "option \"a\" is declared twice");
}

TEST(SchemaJson, RefusesAValueOfAnotherType) {
  EXPECT_THROW(option_value_from_json(json(1.5), OptionType::integer), Error);
  EXPECT_THROW(option_value_from_json(json("1"), OptionType::number), Error);
  EXPECT_THROW(option_value_from_json(json(1), OptionType::boolean), Error);
  EXPECT_THROW(option_value_from_json(json::array({1}), OptionType::text_list), Error);
  EXPECT_THROW(option_value_from_json(json(nullptr), OptionType::text), Error);
}

}  // namespace
}  // namespace encore::config
