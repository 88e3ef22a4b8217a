// SPDX-License-Identifier: BSD-3-Clause
// Tests the parsing of JSON from files and other programs (base/json_text.hpp): text that nests too deep or
// has too many values is rejected before it can exhaust stack or memory, and errors name line and column. The
// limits are those of base/limits.hpp and may change there.
#include "base/json_text.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/limits.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore {
namespace {

/// Returns the message with which the text is rejected; empty if it is valid.
std::string json_problem(const std::string& text) {
  try {
    parse_json(text);
  } catch (const JsonError& error) {
    return error.what();
  }
  return "no problem";
}

/// Returns `levels` arrays, one in the other.
std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

TEST(JsonText, IsParsedAsItIs) {
  EXPECT_EQ(parse_json(R"({"a": [1, "x"]})"), (nlohmann::json{{"a", {1, "x"}}}));
  EXPECT_EQ(parse_json<nlohmann::ordered_json>(R"({"b": 1, "a": 2})").dump(), R"({"b":1,"a":2})");
}

TEST(JsonText, NestsAsDeepAsItMayAndNoDeeper) {
  EXPECT_EQ(json_problem(nested(most_levels)), "no problem");
  EXPECT_EQ(json_problem(nested(most_levels + 1)), "line 1, column 101: nested more than 100 levels deep");
  EXPECT_EQ(json_problem("{\"a\":\n" + nested(100000) + "}"),
            "line 2, column 100: nested more than 100 levels deep");
  EXPECT_EQ(json_problem(std::string(100000, '{')), "line 1, column 101: nested more than 100 levels deep");
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_EQ(json_problem(objects), "line 1, column 501: nested more than 100 levels deep");
}

TEST(JsonText, CountsNoBracketsInStringsAndNoClosedOnes) {
  EXPECT_EQ(json_problem("[\"" + std::string(1000, '[') + "\\\"[[[\"]"), "no problem");
  std::string flat = "[";
  for (int i = 0; i < 1000; ++i) flat += "[{}],";
  EXPECT_EQ(json_problem(flat + "1]"), "no problem");
}

TEST(JsonText, ReportsThePlaceWhereItIsInvalid) {
  EXPECT_EQ(json_problem("{\"a\": 1,\n  oh}"), "line 2, column 3: no JSON");
  EXPECT_EQ(json_problem(""), "line 1, column 1: no JSON");
  EXPECT_EQ(json_problem("[1"), "line 1, column 3: no JSON");
  EXPECT_EQ(json_problem("1e999"), "line 1, column 1: JSON with a number that no 64-bit float can hold");
}

TEST(JsonText, KeepsTheOrderOfMembersAsTheLibraryDoes) {
  for (const char* text : {R"({"b":1,"a":{"z":[],"y":null},"c":[{"d":true},-2,0.5,"x"]})", R"({})", R"("a")",
                           "7", R"({"a":1,"b":2,"a":3,"c":{"a":1,"a":2},"b":4})", R"([[],{},{"":{"":""}}])"})
    EXPECT_EQ(parse_json<nlohmann::ordered_json>(text).dump(), nlohmann::ordered_json::parse(text).dump());
  const auto problem = [](const std::string& text) {
    return testing::message_of<JsonError>([&] { parse_json<nlohmann::ordered_json>(text); });
  };
  for (const char* text : {"{\"a\": 1,\n  oh}", "", "[1", "1e999", "[1] 2"})
    EXPECT_EQ(problem(text), testing::message_of<JsonError>([&] { parse_json(text); })) << text;
}

TEST(JsonText, IsNullWhereNothingCanBeRead) {
  EXPECT_EQ(json_or_null("[1]"), nlohmann::json({1}));
  for (const std::string& text : {std::string(), std::string("{"), nested(100000), std::string("1e999")})
    EXPECT_TRUE(json_or_null(text).is_null()) << text.substr(0, 10);
}

TEST(JsonValues, AreCountedOutsideOfStrings) {
  EXPECT_EQ(count_json_values("1"), 1U);
  EXPECT_EQ(count_json_values(R"({"a": [1, 2], "b,:[{": "\",,"})"), 7U);
  EXPECT_NO_THROW(
      require_few_json_values(std::string(2 * most_json_values - 2, ',').substr(most_json_values)));
  try {
    require_few_json_values(std::string(most_json_values, ','));
    ADD_FAILURE() << "more values than allowed";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the JSON has more than 4000000 values, which no model's file has");
  }
}

TEST(JsonList, KeepsAllDigitsAndWritesNanAsJson) {
  const std::vector<float> numbers = {0.1F, -0.0F, 1.0F / 3.0F, 1e-42F, 3.4e38F};
  EXPECT_EQ(nlohmann::json::parse(json_list(numbers)).get<std::vector<float>>(), numbers);
  EXPECT_EQ(json_list(std::vector<float>{0.5F, NAN, -INFINITY}), "[0.5,null,null]");
  EXPECT_EQ(json_list({}), "[]");
}

}  // namespace
}  // namespace encore
