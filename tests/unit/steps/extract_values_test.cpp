// SPDX-License-Identifier: BSD-3-Clause
// Tests the normal forms of values (plugins/steps/extract/values.hpp): dates, amounts, numbers, telephone
// numbers, identifiers and text, as people write them; what cannot be read stays as it is and has a problem.
// A new form gets a line here. Read next: plugins/steps/extract/dates.cpp.
#include "extract/values.hpp"

#include <gtest/gtest.h>

#include "unit/steps/samples.hpp"

namespace encore::extract {
namespace {

std::string value_of(const char* text, ValueType type, const ValueRules& rules = {}) {
  const Value value = normal_value(text, type, rules);
  if (!value.is_normal()) {
    EXPECT_EQ(value.text, joined_words(text, rules.line_mark))
        << "a value without a normal form stays as it is";
    return "? " + value.problem;
  }
  return value.text + (value.currency.empty() ? "" : " " + value.currency);
}

std::string date(const char* text, const ValueRules& rules = {}) {
  return value_of(text, ValueType::date, rules);
}

std::string amount(const char* text, DecimalMark mark = DecimalMark::automatic) {
  return value_of(text, ValueType::amount, {.decimal = mark});
}

std::string number(const char* text, DecimalMark mark = DecimalMark::automatic) {
  return value_of(text, ValueType::number, {.decimal = mark});
}

TEST(Dates, AreReadInTheFormsThatPeopleWrite) {
  for (const char* text : {"25/12/2018", "25.12.2018", "25-12-18", "2018-12-25", "2018/12/25", "20181225",
                           "25 DEC 18", "25 Dec. 2018", "25th of December, 2018", "December 25th, 2018",
                           "Dec 25 2018", "25DEC2018", "Tuesday, 25 December 2018", "25 / 12 / 2018",
                           "2018 Dec 25", "12/25/2018", "25\n12\n2018", "Tues. 25.12.18"})
    EXPECT_EQ(date(text), "2018-12-25") << text;
  EXPECT_EQ(date("1 sept 2020"), "2020-09-01");
  EXPECT_EQ(date("29/02/2020"), "2020-02-29");
}

TEST(Dates, TakeTheStatedOrderWhereBothArePossible) {
  EXPECT_EQ(date("03/04/2020"), "2020-04-03");
  EXPECT_EQ(date("03/04/2020", {.day_first = false}), "2020-03-04");
  EXPECT_EQ(date("25/12/2020", {.day_first = false}), "2020-12-25") << "only one order is a date";
  EXPECT_EQ(date("2020-03-04"), "2020-03-04") << "a year in front has the month behind it";
}

TEST(Dates, PutTwoDigitsOfAYearIntoHundredYears) {
  EXPECT_EQ(date("1.1.69"), "2069-01-01");
  EXPECT_EQ(date("1.1.70"), "1970-01-01");
  EXPECT_EQ(date("1.1.49", {.first_year = 1950}), "2049-01-01");
  EXPECT_EQ(date("1.1.50", {.first_year = 1950}), "1950-01-01");
  EXPECT_EQ(date("1.1.00", {.first_year = 2000}), "2000-01-01");
}

TEST(Dates, StayAsTheyAreIfTheCalendarHasNone) {
  const std::string none = "? the calendar has no such date", not_one = "? it is not a date",
                    part = "? it does not have a day, a month and a year";
  for (const char* text : {"31/02/2020", "29/02/2019", "00/12/2018", "32.1.2020", "13/13/2020",
                           "31 April 2020", "1/1/118", "20181325", "2018", "Foo 1 2"})
    EXPECT_TRUE(date(text) == none || date(text) == not_one) << text << ": " << date(text);
  EXPECT_EQ(date("31/02/2020"), none);
  EXPECT_EQ(date("12/2018"), part);
  EXPECT_EQ(date("12/12/2018 13:05"), not_one);
  EXPECT_EQ(date("due soon"), not_one);
  EXPECT_EQ(date("123456789/1/2020"), not_one);
  EXPECT_EQ(date("- / -"), not_one);
  EXPECT_EQ(date("1/2/3/4/5/6/7/8/9/10/11/12"), not_one);
}

TEST(Amounts, HaveTheirMarksRecognized) {
  EXPECT_EQ(amount("1.234,56"), "1234.56");
  EXPECT_EQ(amount("1,234.56"), "1234.56");
  EXPECT_EQ(amount("1 234,56"), "1234.56");
  EXPECT_EQ(amount("1'234.50"), "1234.50");
  EXPECT_EQ(amount("1\u2019234\u2019567.5"), "1234567.50");
  EXPECT_EQ(amount("1\u00A0234,5"), "1234.50");
  EXPECT_EQ(amount("1,234,567"), "1234567.00");
  EXPECT_EQ(amount("1.234.567,8"), "1234567.80");
  EXPECT_EQ(amount("12"), "12.00");
  EXPECT_EQ(amount("12.5"), "12.50");
  EXPECT_EQ(amount("12,50"), "12.50");
  EXPECT_EQ(amount("0.125"), "0.125");
  EXPECT_EQ(amount("1234.567"), "1234.567") << "thousands would have a mark in front of 234 too";
  EXPECT_EQ(amount(".50"), "0.50");
  EXPECT_EQ(amount("007.00"), "7.00");
  EXPECT_EQ(amount("1 , 234 . 50"), "1234.50") << "text that is cut into words has blanks at marks";
  EXPECT_EQ(amount("12,-"), "12.00");
}

TEST(Amounts, StayAsTheyAreIfTheirMarksAreNotClear) {
  EXPECT_EQ(amount("1,234"), "? it is not clear whether \",\" separates decimals or thousands: set decimal");
  EXPECT_EQ(amount("12.345"), "? it is not clear whether \".\" separates decimals or thousands: set decimal");
  EXPECT_EQ(amount("1,234", DecimalMark::point), "1234.00");
  EXPECT_EQ(amount("1,234", DecimalMark::comma), "1.234");
  EXPECT_EQ(amount("1.234", DecimalMark::comma), "1234.00");
  const std::string marks = "? its marks do not separate thousands and decimals";
  for (const char* text : {"1.23.4", "1,2,3", "12,34,567.00", "1.2,3.4", "1,,5", "1 23", "1234,567.00"})
    EXPECT_EQ(amount(text), marks) << text;
  EXPECT_EQ(amount("1.234,56", DecimalMark::point), marks);
  EXPECT_EQ(amount("1 . 234", DecimalMark::point), "1.234");
}

TEST(Amounts, HaveSignsAndCurrencies) {
  EXPECT_EQ(amount("RM 8.60"), "8.60 RM");
  EXPECT_EQ(amount("RM8.60"), "8.60 RM");
  EXPECT_EQ(amount("$ 1,000.00"), "1000.00 $");
  EXPECT_EQ(amount("US$5"), "5.00 US$");
  EXPECT_EQ(amount("12,50 \u20AC"), "12.50 \u20AC");
  EXPECT_EQ(amount("12.50 EUR"), "12.50 EUR");
  EXPECT_EQ(amount("-12.50"), "-12.50");
  EXPECT_EQ(amount("12.50-"), "-12.50");
  EXPECT_EQ(amount("\u221212.50"), "-12.50");
  EXPECT_EQ(amount("( RM 12.50 )"), "-12.50 RM");
  EXPECT_EQ(amount("RM -.50"), "-0.50 RM");
  EXPECT_EQ(amount("$.50"), "0.50 $");
  EXPECT_EQ(amount("Fr. 50"), "50.00 Fr.");
  EXPECT_EQ(amount("RM.50"), "? it is not clear whether \".\" belongs to the currency or to the number");
  EXPECT_EQ(amount("-0.00"), "0.00") << "zero has no sign";
  EXPECT_EQ(amount("RM 5.00 SR"), "? \"RM\" and \"SR\" stand around the number");
  EXPECT_EQ(amount("total 5.00"), "? \"total\" is not a currency");
  EXPECT_EQ(amount("(5.00"), "? its signs do not fit together");
  EXPECT_EQ(amount("-5.00-"), "? its signs do not fit together");
  EXPECT_EQ(amount("5.00 * 2"), "? it is not one number");
  EXPECT_EQ(amount("free"), "? it has no digit");
  EXPECT_EQ(amount("\xFF\xFE 5"), "? \"\xFF\xFE\" is not a currency")
      << "bytes that are not UTF-8 do no harm";
  EXPECT_EQ(amount("123456789012345"), "123456789012345.00");
  EXPECT_EQ(amount("1234567890123456"), "? it has more than 15 digits");
}

TEST(Numbers, HaveNoCurrencyAndNoNeedlessZeros) {
  EXPECT_EQ(number("12"), "12");
  EXPECT_EQ(number("12.50"), "12.5");
  EXPECT_EQ(number("2.000"), "? it is not clear whether \".\" separates decimals or thousands: set decimal");
  EXPECT_EQ(number("2.000", DecimalMark::point), "2");
  EXPECT_EQ(number("-3"), "-3");
  EXPECT_EQ(number("3 pcs"), "? \"pcs\" stands beside the number");
  EXPECT_EQ(number(""), "? it has no word");
}

TEST(TelephoneNumbers, AreDigitsBehindTheCountry) {
  const auto phone = [](const char* text) { return value_of(text, ValueType::phone); };
  EXPECT_EQ(phone("+49 (0) 89 / 123-456"), "+4989123456");
  EXPECT_EQ(phone("0049 89 123456"), "+4989123456");
  EXPECT_EQ(phone("07-352 38 88"), "073523888");
  EXPECT_EQ(phone("(03) 1234.5678"), "0312345678");
  EXPECT_EQ(phone("1234"), "? a telephone number has 5 to 15 digits");
  EXPECT_EQ(phone("1234567890123456"), "? a telephone number has 5 to 15 digits");
  EXPECT_EQ(phone("07-352 ext 4"), "? it is not a telephone number");
  EXPECT_EQ(phone("07+35238"), "? it is not a telephone number");
}

TEST(Identifiers, AreLettersAndDigits) {
  const auto identifier = [](const char* text) { return value_of(text, ValueType::identifier); };
  EXPECT_EQ(identifier("inv-2020/0012 a"), "INV20200012A");
  EXPECT_EQ(identifier("n\u00BA 7\u2013\u00E4"), "N\u00BA7\u00C4");
  EXPECT_EQ(identifier("- / -"), "? it has no letter and no digit");
  EXPECT_EQ(identifier("a\xFF"), "? it is not UTF-8");
}

TEST(Text, HasOneBlankBetweenWordsAndNoLineMarks) {
  const ValueRules rules{.line_mark = "|"};
  EXPECT_EQ(value_of("  LOT 1 |\n JALAN\t2 | | 81100 ", ValueType::text, rules), "LOT 1 JALAN 2 81100");
  EXPECT_EQ(value_of("A|B", ValueType::text, rules), "A|B") << "only a word of its own is a mark";
  EXPECT_EQ(date("25 | DEC 2018", rules), "2018-12-25");
  EXPECT_FALSE(normal_value(" | ", ValueType::text, rules).is_normal());
}

TEST(NormalForms, AreTheirOwnNormalForm) {
  // Random text of the signs that values have. Nothing may throw, and a normal form is read as itself.
  const std::vector<std::string> parts = {"0",   "1",  "7",    "12",     "2020", ".", ",",  " ",
                                          "-",   "(",  ")",    "/",      "'",    "+", "RM", "\u20AC",
                                          "MAR", "th", "\xFF", "\u00A0", "|",    "a"};
  test::Draws draws(1);
  const ValueRules rules{.decimal = DecimalMark::point};
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::uint64_t count = draws.next() % 9; count > 0; --count)
      text += parts[draws.next() % parts.size()];
    for (const std::string& name : value_type_names()) {
      const ValueType type = *value_type(name);
      const Value value = normal_value(text, type, rules);
      if (!value.is_normal()) continue;
      EXPECT_EQ(normal_value(value.text, type, rules), (Value{.text = value.text})) << name << ": " << text;
    }
  }
}

TEST(Types, HaveNames) {
  EXPECT_EQ(value_type("identifier"), ValueType::identifier);
  EXPECT_EQ(value_type("Date"), std::nullopt);
}

}  // namespace
}  // namespace encore::extract
