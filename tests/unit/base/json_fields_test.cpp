// SPDX-License-Identifier: BSD-3-Clause
// Tests list() and the functions of base/json_fields.hpp, by which messages between `exp`, workers and files
// are written as JSON and read back: nothing is lost, an ordered object keeps the order of the list, unknown
// members are ignored, and an error names the wrong field by its place ("data.train.examples"). The structs
// here are samples; each real message is tested beside its struct.
#include "base/json_fields.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace encore {
namespace {

using nlohmann::json;

enum class Colour : std::uint8_t { red, green };
constexpr std::array<std::pair<Colour, const char*>, 2> colour_names = {
    {{Colour::red, "red"}, {Colour::green, "green"}}};
constexpr const auto& names_of(Colour) {
  return colour_names;
}

struct Inner {
  std::int64_t whole = 0;
  bool flag = false;
  bool operator==(const Inner&) const = default;
};
void list(auto& field, A<Inner> auto& inner) {
  field("whole", inner.whole);
  field.optional("flag", inner.flag);
}

/// A struct that earlier versions wrote as {"old": "..."}: renewed() converts that form before it is read.
struct Renewed {
  std::string name;
  bool operator==(const Renewed&) const = default;
};
void list(auto& field, A<Renewed> auto& renewed) {
  field("name", renewed.name);
}
json renewed(const json& object, const Renewed&) {
  return object.contains("old") ? json{{"name", object["old"]}} : object;
}

/// A type that is not written as an object: write_value() and read_value() define its JSON.
struct Celsius {
  double degrees = 0.0;
  bool operator==(const Celsius&) const = default;
};
void write_value(auto& to, const Celsius& value) {
  to = std::to_string(static_cast<int>(value.degrees)) + " C";
}
void read_value(const json& from, const JsonPlace& place, Celsius& value) {
  if (!from.is_string()) refuse_value(from, place, "a temperature");
  value.degrees = std::stod(from.get<std::string>());
}

struct Message {
  std::string text;
  std::size_t size = 0;
  double number = 0.0;
  Colour colour = Colour::red;
  Inner inner;
  std::vector<Inner> list;
  std::map<std::string, std::vector<double>> table;
  std::optional<double> maybe;
  Renewed renewed;
  Celsius warm;
  json other;
  bool operator==(const Message&) const = default;
};
void list(auto& field, A<Message> auto& message) {
  field("text", message.text);
  field("size", message.size);
  field("number", message.number);
  field("colour", message.colour);
  field("inner", message.inner);
  field("list", message.list);
  field("table", message.table);
  field("maybe", message.maybe);
  field("renewed", message.renewed);
  field("warm", message.warm);
  field("other", message.other);
}

Message sample() {
  return {.text = "a",
          .size = 7,
          .number = 0.5,
          .colour = Colour::green,
          .inner = {3, true},
          .list = {{1, false}, {2, true}},
          .table = {{"row", {1.5, 2.5}}},
          .maybe = 2.25,
          .renewed = {"new"},
          .warm = {20.0},
          .other = {{"x", {1, 2}}}};
}

/// Returns the error of reading the sample after `pointer` (a JSON pointer) was set to `value`.
std::string problem_of(const char* pointer, const json& value) {
  json changed = to_json_object(sample());
  changed[json::json_pointer(pointer)] = value;
  try {
    from_json_object<Message>(changed);
  } catch (const FieldError& error) {
    return error.what();
  }
  return "";
}

TEST(JsonFields, AMessageComesBackAsItWasWritten) {
  EXPECT_EQ(from_json_object<Message>(to_json_object(sample())), sample());
  EXPECT_EQ(from_json_object<Message>(json::parse(to_json_object(sample()).dump())), sample());
}

TEST(JsonFields, AnOrderedObjectHasTheOrderOfTheList) {
  EXPECT_EQ(to_json_object<nlohmann::ordered_json>(sample()).dump(),
            R"({"text":"a","size":7,"number":0.5,"colour":"green","inner":{"whole":3,"flag":true},)"
            R"("list":[{"whole":1},{"whole":2,"flag":true}],"table":{"row":[1.5,2.5]},"maybe":2.25,)"
            R"("renewed":{"name":"new"},"warm":"20 C","other":{"x":[1,2]}})");
  EXPECT_EQ(to_json_object(Inner{.flag = true}).dump(), R"({"flag":true,"whole":0})");
}

TEST(JsonFields, AMissingFieldIsNamedByItsPlace) {
  json message = to_json_object(sample());
  message["list"][1].erase("whole");
  try {
    from_json_object<Message>(message);
    FAIL() << "expected an error";
  } catch (const FieldError& error) {
    EXPECT_STREQ(error.what(), "\"list[1].whole\" is missing");
  }
}

TEST(JsonFields, AValueOfAnotherTypeIsNamedByItsPlace) {
  EXPECT_EQ(problem_of("/text", 1), "\"text\" is a number, not a text");
  EXPECT_EQ(problem_of("/number", "1"), "\"number\" is a text, not a number");
  EXPECT_EQ(problem_of("/inner", nullptr), "\"inner\" is null, not an object");
  EXPECT_EQ(problem_of("/inner/flag", 1), "\"inner.flag\" is a number, not true or false");
  EXPECT_EQ(problem_of("/list", json::object()), "\"list\" is an object, not a list");
  EXPECT_EQ(problem_of("/table/row/1", "x"), "\"table.row[1]\" is a text, not a number");
  EXPECT_EQ(problem_of("/maybe", true), "\"maybe\" is true or false, not a number");
  EXPECT_EQ(problem_of("/warm", 3), "\"warm\" is a number, not a temperature");
  EXPECT_EQ(problem_of("/colour", "blue"), "\"colour\" is \"blue\", none of \"red\", \"green\"");
  EXPECT_EQ(problem_of("", json::array()), "the message is a list, not an object");
}

TEST(JsonFields, AWholeNumberMustFitItsType) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(problem_of("/inner/whole", most), "");
  EXPECT_EQ(problem_of("/inner/whole", -most), "");
  EXPECT_EQ(problem_of("/inner/whole", std::uint64_t{1} << 63),
            "\"inner.whole\" is a number, not a whole number");
  EXPECT_EQ(problem_of("/inner/whole", 1.5), "\"inner.whole\" is a number, not a whole number");
  EXPECT_EQ(problem_of("/size", -1), "\"size\" is a number, not a whole number from 0 on");
}

TEST(JsonFields, ANumberThatIsNotFiniteIsNull) {
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Message message = sample();
    message.number = value;
    const json written = to_json_object(message);
    EXPECT_TRUE(written["number"].is_null());
    EXPECT_TRUE(std::isnan(from_json_object<Message>(written).number));
  }
}

TEST(JsonFields, NullIsAnOptionalWithoutAValue) {
  Message message = sample();
  message.maybe.reset();
  const json written = to_json_object(message);
  EXPECT_TRUE(written["maybe"].is_null());
  EXPECT_EQ(from_json_object<Message>(written), message);
}

TEST(JsonFields, AnUnknownMemberIsIgnoredAndAnOldFormIsRead) {
  json message = to_json_object(sample());
  message["tomorrow"] = 1;
  message["renewed"] = {{"old", "new"}};
  EXPECT_EQ(from_json_object<Message>(message), sample());
}

}  // namespace
}  // namespace encore
