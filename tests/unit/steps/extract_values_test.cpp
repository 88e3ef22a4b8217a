// SPDX-License-Identifier: BSD-3-Clause
// Tests the normal forms of values (plugins/steps/extract/values.hpp): dates, amounts, numbers, telephone
// numbers, identifiers, quantities, account numbers and text, as people write them; what cannot be read stays
// as it is and has a problem. A new form gets a line here. Read next: plugins/steps/extract/dates.cpp.
#include "extract/values.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

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

TEST(Dates, HaveNamesOfTheStatedLanguages) {
  const auto in = [](const char* text, std::vector<DateLanguage> languages) {
    return date(text, {.date_languages = std::move(languages)});
  };
  constexpr DateLanguage en = DateLanguage::en, de = DateLanguage::de, fr = DateLanguage::fr,
                         es = DateLanguage::es, it = DateLanguage::it;
  for (const char* text : {"3. M\u00E4rz 2024", "3. MARZ 2024", "Sonntag, den 3. Maerz 2024", "So 3. Mrz. 24",
                           "3. Ma\u0308r. 2024", "03.03.2024"})
    EXPECT_EQ(in(text, {de}), "2024-03-03") << text;
  for (const char* text : {"1er ao\u00FBt 2024", "le jeudi 1 AO\u00DBT 2024", "1er aout 24"})
    EXPECT_EQ(in(text, {fr}), "2024-08-01") << text;
  for (const char* text : {"5 de enero de 2024", "viernes, 5 ene. 2024", "5 de Enero del 2024"})
    EXPECT_EQ(in(text, {es}), "2024-01-05") << text;
  for (const char* text : {"1\u00B0 giugno 2024", "1\u00BA giugno 2024", "sabato 1 giu 2024"})
    EXPECT_EQ(in(text, {it}), "2024-06-01") << text;
  EXPECT_EQ(in("1. J\u00E4nner 2024", {de}), "2024-01-01");
  EXPECT_EQ(in("9 set. 2024", {es}), "2024-09-09");
  EXPECT_EQ(in("12 Dezember 2024", {en, de}), "2024-12-12");
  EXPECT_EQ(in("12 December 2024", {en, de}), "2024-12-12");
  EXPECT_EQ(in("12 d\u00E9cembre 2024", {de, fr, es, it}), "2024-12-12");
}

TEST(Dates, StayAsTheyAreInOtherLanguages) {
  const std::string not_one = "? it is not a date";
  EXPECT_EQ(date("3. M\u00E4rz 2024"), not_one) << "English alone is the default";
  EXPECT_EQ(date("3. Marz 2024"), not_one);
  EXPECT_EQ(date("12 October 2024", {.date_languages = {DateLanguage::de}}), not_one);
  EXPECT_EQ(date("12 jui 2024", {.date_languages = {DateLanguage::fr}}), not_one) << "it may be June or July";
  EXPECT_EQ(date("12 juil 2024", {.date_languages = {DateLanguage::fr}}), "2024-07-12");
  EXPECT_EQ(date("3. M\xE4rz 2024", {.date_languages = {DateLanguage::de}}), not_one) << "not UTF-8";
  EXPECT_EQ(date("31. Februar 2024", {.date_languages = {DateLanguage::de}}),
            "? the calendar has no such date");
}

/// Every language has the same twelve months, and each name and its beginning of four letters is one of them.
TEST(Dates, KnowAllMonthsOfEachLanguage) {
  const std::map<std::string, std::vector<std::string>> months = {
      {"en",
       {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
        "November", "December"}},
      {"de",
       {"Januar", "Februar", "M\u00E4rz", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober",
        "November", "Dezember"}},
      {"fr",
       {"janvier", "f\u00E9vrier", "mars", "avril", "mai", "juin", "juillet", "ao\u00FBt", "septembre",
        "octobre", "novembre", "d\u00E9cembre"}},
      {"es",
       {"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre",
        "noviembre", "diciembre"}},
      {"it",
       {"gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre",
        "ottobre", "novembre", "dicembre"}}};
  std::vector<DateLanguage> all;
  for (const std::string& name : date_language_names()) all.push_back(*date_language(name));
  for (const auto& [name, names] : months)
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string number = std::to_string(i + 1),
                        expected = "2024-" + std::string(number.size() == 1 ? "0" : "") + number + "-12";
      const std::string text = "12 " + names[i] + " 2024";
      EXPECT_EQ(date(text.c_str(), {.date_languages = {*date_language(name)}}), expected) << text;
      EXPECT_EQ(date(text.c_str(), {.date_languages = all}), expected) << text;
    }
  EXPECT_EQ(date_language("nl"), std::nullopt);
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

TEST(Quantities, HaveANumberAndAUnit) {
  const auto quantity = [](const char* text, DecimalMark mark = DecimalMark::automatic) {
    return value_of(text, ValueType::unit, {.decimal = mark});
  };
  EXPECT_EQ(quantity("12,5 kg"), "12.5 kg");
  EXPECT_EQ(quantity("12.50kg."), "12.5 kg");
  EXPECT_EQ(quantity("1 000 KG"), "1000 kg");
  EXPECT_EQ(quantity("1,234 kg", DecimalMark::point), "1234 kg");
  EXPECT_EQ(quantity("1,234 kg"),
            "? it is not clear whether \",\" separates decimals or thousands: set decimal");
  EXPECT_EQ(quantity("0.33 L"), "0.33 l");
  EXPECT_EQ(quantity("250 ug"), "250 \u00B5g");
  EXPECT_EQ(quantity("250 \u03BCg"), "250 \u00B5g");
  EXPECT_EQ(quantity("2 m3"), "2 m\u00B3");
  EXPECT_EQ(quantity("2 m^3"), "2 m\u00B3");
  EXPECT_EQ(quantity("80 cm\u00B2"), "80 cm\u00B2");
  EXPECT_EQ(quantity("\u22125 \u00B0 C"), "-5 \u00B0C");
  EXPECT_EQ(quantity("20\u2103"), "20 \u00B0C");
  EXPECT_EQ(quantity("20 \u00BAF"), "20 \u00B0F");
  EXPECT_EQ(quantity("300 K"), "300 K");
  EXPECT_EQ(quantity("90 min"), "90 min");
  EXPECT_EQ(quantity("7.5 h"), "7.5 h");
  EXPECT_EQ(quantity("500 g"), "500 g") << "nothing is converted";
  for (const char* text : {"3 x 500 ml", "3x500ml", "3 \u00D7 500 ml", "3*500 ML", "03 X 500.0 ml"})
    EXPECT_EQ(quantity(text), "3 x 500 ml") << text;
  EXPECT_EQ(quantity("1 x 500 ml"), "500 ml");
  const Value value = normal_value("3 x 0,5 l", ValueType::unit, {});
  EXPECT_EQ(value.quantity, (Quantity{.count = "3", .number = "0.5", .unit = "l"}));
}

TEST(Quantities, StayAsTheyAreWithoutAKnownUnit) {
  const auto quantity = [](const char* text) { return value_of(text, ValueType::unit); };
  EXPECT_EQ(quantity("12"), "? it has no unit");
  EXPECT_EQ(quantity("kg"), "? it has no digit");
  EXPECT_EQ(
      quantity("3 pcs"),
      "? \"pcs\" is not a unit of mass, length, area, volume, time or temperature such as kg, cm, ml or "
      "\u00B0C");
  for (const char* text :
       {"3 kg net", "3 kg 500 g", "12 \u00B0", "5 m 3", "3 x", "3 x kg", "2 x 3 x 4 kg", "$ 3 kg"})
    EXPECT_FALSE(normal_value(text, ValueType::unit, {}).is_normal()) << text;
  EXPECT_FALSE(normal_value("3 \xFFkg", ValueType::unit, {}).is_normal());
}

TEST(Accounts, AreIbansWithRightCheckDigits) {
  const auto account = [](const char* text) { return value_of(text, ValueType::account); };
  // Examples of the registry of IBANs, one for each of some lengths.
  EXPECT_EQ(account("DE89 3704 0044 0532 0130 00"), "DE89370400440532013000");
  EXPECT_EQ(account("gb29-nwbk-6016-1331-9268-19"), "GB29NWBK60161331926819");
  EXPECT_EQ(account("IBAN: FR14 2004 1010 0505 0001 3M02 606"), "FR1420041010050500013M02606");
  EXPECT_EQ(account("NO93 8601 1117 947"), "NO9386011117947");
  EXPECT_EQ(account("MT84 MALT 0110 0001 2345 MTLC AST0 01S"), "MT84MALT011000012345MTLCAST001S");
  const std::string
      check = "? its check digits do not fit the other characters (ISO 13616)",
      form = "? it is not an IBAN, which has two letters, two digits and 11 to 30 letters or digits";
  EXPECT_EQ(account("DE89 3704 0044 0532 0130 01"), check);
  EXPECT_EQ(account("DE98 3704 0044 0532 0130 00"), check) << "two digits have changed places";
  for (const char* text : {"0532013000", "D889370400440532013000", "DE89", "IBAN",
                           "DE89 3704 0044 0532 0130 00 !", "DE8937040044053201300012345678901234567"})
    EXPECT_EQ(account(text), form) << text;
}

/// The check digits find every change of one digit and every exchange of two neighbours.
TEST(Accounts, NoticeEveryMistypedDigit) {
  const std::string right = "DE89370400440532013000";
  for (std::size_t i = 2; i < right.size(); ++i)
    for (char digit = '0'; digit <= '9'; ++digit) {
      std::string typed = right;
      typed[i] = digit;
      EXPECT_EQ(normal_value(typed, ValueType::account, {}).is_normal(), typed == right) << typed;
    }
  for (std::size_t i = 4; i + 1 < right.size(); ++i) {
    std::string typed = right;
    std::swap(typed[i], typed[i + 1]);
    EXPECT_EQ(normal_value(typed, ValueType::account, {}).is_normal(), typed == right) << typed;
  }
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
  const std::vector<std::string> parts = {"0",    "1",      "7", "12", "2020", ".",  ",",      " ",   "-",
                                          "(",    ")",      "/", "'",  "+",    "RM", "\u20AC", "MAR", "th",
                                          "\xFF", "\u00A0", "|", "a",  "kg",   "x",  "m3"};
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
      EXPECT_EQ(normal_value(value.text, type, rules),
                (Value{.text = value.text, .quantity = value.quantity}))
          << name << ": " << text;
    }
  }
}

TEST(Types, HaveNames) {
  EXPECT_EQ(value_type("identifier"), ValueType::identifier);
  EXPECT_EQ(value_type("Date"), std::nullopt);
}

}  // namespace
}  // namespace encore::extract
