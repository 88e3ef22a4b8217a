// SPDX-License-Identifier: BSD-3-Clause
// Tests the documents of the step `extract` (plugins/steps/extract/document.hpp): which span gives the value
// of a field, where a group begins, spans of labelled words with their offsets, the checks, the rules of each
// type, what counts as right, and the JSON. Read next: extract_test.cpp, which tests the step.
#include "extract/document.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "extract/rules.hpp"
#include "unit/steps/samples.hpp"

namespace encore::extract {
namespace {

using Json = nlohmann::json;
using Names = std::vector<std::string>;

Rules rules_with(const std::map<std::string, OptionValue>& settings) {
  Schema schema;
  add_rule_options(schema);
  Options options;
  for (const Option& option : schema.options()) options.set_default(option.name, *option.fallback);
  for (const auto& [name, value] : settings) options.set(name, value);
  return rules_in(options);
}

Rules invoice_rules(std::map<std::string, OptionValue> settings = {}) {
  settings.insert({"fields", Names{"company", "date: date", "tax: amount", "total: amount"}});
  settings.insert({"groups", Names{"item: quantity: number, description, price: amount, amount: amount"}});
  return rules_with(settings);
}

/// Returns a span for each pair of label and text, one behind the other. A label may have its probability
/// behind "@".
std::vector<TextSpan> spans(const std::vector<std::pair<std::string, std::string>>& parts) {
  std::vector<TextSpan> all;
  std::int64_t at = 0;
  for (const auto& [label, text] : parts) {
    const std::size_t mark = label.find('@');
    const double score = mark == std::string::npos ? 0.9 : std::stod(label.substr(mark + 1));
    all.push_back({.label = label.substr(0, mark),
                   .text = text,
                   .start = at,
                   .end = at + static_cast<std::int64_t>(text.size()),
                   .score = 1.0,
                   .least_score = score});
    at = all.back().end + 1;
  }
  return all;
}

Names failures(const std::vector<TextSpan>& found, const Rules& rules) {
  Names all;
  for (const Failure& failure : failures_of(document_of(found, rules), rules))
    all.push_back(failure.check + ": " + failure.reason);
  return all;
}

TEST(Documents, TakeTheMostProbableSpanAndNameOtherValues) {
  const Rules rules = invoice_rules();
  const Document document = document_of(spans({{"total@0.7", "12.00"},
                                               {"total@0.9", "13.00"},
                                               {"total@0.8", "RM 13.00"},
                                               {"company@0.5", "A Ltd"},
                                               {"company@0.5", "B Ltd"},
                                               {"other", "ignored"}}),
                                        rules);
  ASSERT_TRUE(document.fields[3].found);
  EXPECT_EQ(document.fields[3].found->value.text, "13.00");
  EXPECT_EQ(document.fields[3].found->start, 6);
  EXPECT_EQ(document.fields[3].found->others, Names{"12.00"}) << "an equal value is not another one";
  EXPECT_EQ(document.fields[0].found->value.text, "A Ltd") << "the first of equally probable spans";
  EXPECT_FALSE(document.fields[1].found);
  EXPECT_EQ(document.confidence(), 0.5);
  EXPECT_EQ(failures(spans({{"total@0.7", "12.00"}, {"total@0.9", "13.00"}}), rules),
            Names{"one value of total: the document has several: \"13.00\", \"12.00\""});
  EXPECT_EQ(failures(spans({{"total@0.7", "12.00"}, {"total@0.9", "13.00"}}),
                     invoice_rules({{"conflicts", "allow"}})),
            Names{});
  EXPECT_EQ(document_of({}, rules).confidence(), 0.0);
}

TEST(Documents, BeginAGroupAtItsFirstMemberAndAtARepeatedOne) {
  const Document document = document_of(spans({{"item.description", "head"},
                                               {"item.quantity", "1"},
                                               {"item.description", "pen"},
                                               {"item.amount", "2.00"},
                                               {"item.description", "without a quantity"},
                                               {"item.amount", "3.00"},
                                               {"item.quantity", "4"},
                                               {"total", "5.00"},
                                               {"item.amount", "6.00"},
                                               {"item.unknown", "x"}}),
                                        invoice_rules());
  Names groups;
  for (const Group& group : document.groups[0]) {
    groups.emplace_back();
    for (const std::optional<Found>& member : group)
      groups.back() += (member ? member->value.text : "-") + std::string(" ");
  }
  EXPECT_EQ(groups, (Names{"- head - - ", "1 pen - 2.00 ", "- without a quantity - 3.00 ", "4 - - 6.00 "}));
}

TEST(Documents, BeginAGroupAtARepeatedMemberOnly) {
  const Document document = document_of(spans({{"item.description", "pen"},
                                               {"item.quantity", "1"},
                                               {"item.amount", "2.00"},
                                               {"item.description", "cup"},
                                               {"item.quantity", "3"},
                                               {"item.description", "hat"}}),
                                        invoice_rules({{"group_start", "repeat"}}));
  ASSERT_EQ(document.groups[0].size(), 3U);
  EXPECT_EQ(document.groups[0][0][0]->value.text, "1");
  EXPECT_EQ(document.groups[0][0][1]->value.text, "pen");
  EXPECT_EQ(document.groups[0][1][0]->value.text, "3");
}

TEST(Documents, AreInTheOrderOfTheDocument) {
  std::vector<TextSpan> some = spans({{"item.quantity", "1"}, {"item.amount", "2"}, {"item.quantity", "3"}});
  const Rules rules = invoice_rules();
  const std::string ordered = json_of(document_of(some, rules), rules, {}, "answer");
  std::swap(some[0], some[2]);
  EXPECT_EQ(json_of(document_of(some, rules), rules, {}, "answer"), ordered);
}

TEST(Documents, TakeEachLabelAsAFieldIfNoneIsNamed) {
  const Rules rules = rules_with({});
  EXPECT_TRUE(rules.takes_all_labels);
  const Document document = document_of(spans({{"b", "x"}, {"a", "y  z"}, {"b", "w"}}), rules);
  ASSERT_EQ(document.fields.size(), 2U);
  EXPECT_EQ(document.fields[0].rule.name, "a");
  EXPECT_EQ(document.fields[0].found->value.text, "y z");
  EXPECT_EQ(document.fields[1].found->others, Names{"w"});
}

TEST(Spans, FollowTagsAndBareLabels) {
  const auto read = [](const Names& words, const Names& labels, std::string_view text) {
    Names found;
    for (const TextSpan& span : spans_of(words, labels, {}, text))
      found.push_back(span.label + " " + span.text + " " + std::to_string(span.start) + "-" +
                      std::to_string(span.end));
    return found;
  };
  EXPECT_EQ(read({"Z\u00FCrich", "is", "A", "Ltd", "B"}, {"B-city", "O", "B-co", "I-co", "B-co"}, ""),
            (Names{"city Z\u00FCrich 0-6", "co A Ltd 10-15", "co B 16-17"}));
  EXPECT_EQ(read({"a", "b", "c", "d", "e"}, {"I-x", "I-x", "E-x", "I-x", "S-x"}, ""),
            (Names{"x a b c 0-5", "x d 6-7", "x e 8-9"}));
  EXPECT_EQ(read({"a", "b", "c", "d"}, {"date", "date", "(cut)", "date"}, ""),
            (Names{"date a b 0-3", "date d 6-7"}));
  EXPECT_EQ(read({"\u00FC", "a", ",", "b"}, {"O", "x", "x", "x"}, "\u00FC  a,   b"), (Names{"x a,   b 3-9"}))
      << "offsets are those of the text that has the words";
  EXPECT_EQ(read({"a", "b"}, {"x", "x"}, "another text"), (Names{"x a b 0-3"}));
  EXPECT_EQ(read({}, {}, ""), Names{});
  const double scores[] = {0.9, 0.4, 0.8};
  EXPECT_EQ(spans_of({"a", "b", "c"}, {"x", "x", "x"}, scores, "")[0].least_score, 0.4);
  EXPECT_EQ(test::refusal([] { spans_of({"a"}, {}, {}, ""); }),
            "1 words have 0 labels and 0 probabilities: expected one of each for each word");
}

TEST(Checks, NameWhatIsMissing) {
  const Rules rules = invoice_rules({{"required", Names{"total", "item", "item.amount"}}});
  EXPECT_EQ(failures({}, rules),
            (Names{"required total: it was not found", "required item: it was not found"}));
  EXPECT_EQ(
      failures(
          spans({{"total", "1.00"}, {"item.quantity", "1"}, {"item.amount", "1.00"}, {"item.quantity", "2"}}),
          rules),
      Names{"required item.amount: it was not found in item 2"});
}

TEST(Checks, NameValuesWithoutTheirForm) {
  const Rules rules = invoice_rules({{"shapes", Names{"company: @@-##+", "date: ####-##-##"}}});
  EXPECT_EQ(
      failures(spans({{"date", "31/02/2020"}, {"item.amount", "1,234"}, {"company", "A-1"}}), rules),
      (Names{
          "format company: \"A-1\" does not have the shape @@-##+",
          "format date: \"31/02/2020\": the calendar has no such date",
          "format item.amount: \"1,234\": it is not clear whether \",\" separates decimals or thousands: set "
          "decimal"}));
  EXPECT_EQ(failures(spans({{"date", "1/2/2020"}, {"company", "AB-123"}}), rules), Names{});
}

TEST(Checks, CompareBothSidesOfEquations) {
  const Rules rules = invoice_rules(
      {{"equations", Names{"sum(item.amount) + tax = total", "item.quantity * item.price = item.amount"}}});
  const auto document = [](const char* total, const char* amount) {
    return spans({{"item.quantity", "2"},
                  {"item.price", "1.50"},
                  {"item.amount", amount},
                  {"item.quantity", "1"},
                  {"item.price", "4"},
                  {"item.amount", "4.00"},
                  {"tax", "0.70"},
                  {"total", total}});
  };
  EXPECT_EQ(failures(document("7.70", "3.00"), rules), Names{});
  EXPECT_EQ(failures(document("7.71", "3.00"), rules),
            Names{"sum(item.amount) + tax = total: 7.7 is not 7.71"});
  EXPECT_EQ(failures(document("7.8", "3.10"), rules),
            Names{"item.quantity * item.price = item.amount: 3 is not 3.1 in item 1"});
  EXPECT_EQ(failures(document("free", "3.00"), rules),
            (Names{"format total: \"free\": it has no digit",
                   "sum(item.amount) + tax = total: it cannot be checked: total is not a number"}));
  EXPECT_EQ(failures(spans({{"total", "1.00"}}), rules),
            Names{"sum(item.amount) + tax = total: it cannot be checked: item was not found"});
  EXPECT_EQ(
      failures(spans({{"item.quantity", "1"}}), rules),
      Names{"item.quantity * item.price = item.amount: it cannot be checked: price of item 1 was not found"});
  EXPECT_EQ(failures(spans({{"company", "A Ltd"}}), rules), Names{})
      << "the document has no value of the equations";
}

TEST(Checks, AllowATolerance) {
  const auto with = [](double tolerance) {
    return failures(spans({{"tax", "0.30"}, {"total", "0.32"}}),
                    invoice_rules({{"equations", Names{"total = tax"}}, {"tolerance", tolerance}}));
  };
  EXPECT_TRUE(with(0.02).empty()) << "0.32 - 0.30 is a little more than 0.02 in binary";
  EXPECT_FALSE(with(0.0199).empty());
  EXPECT_TRUE(failures(spans({{"tax", "0.10"}, {"total", "0.30"}}),
                       invoice_rules({{"equations", Names{"total - tax - 0.2 = 0", "-tax = 0.2 - total"}},
                                      {"tolerance", 0.0}}))
                  .empty());
}

TEST(Shapes, HaveDigitsLettersAndRepetitions) {
  EXPECT_TRUE(has_shape("AB-123456", "@@-######"));
  EXPECT_TRUE(has_shape("AB1", "@+#+"));
  EXPECT_TRUE(has_shape("A1", "@+#+"));
  EXPECT_FALSE(has_shape("1A", "@+#+"));
  EXPECT_FALSE(has_shape("AB-12345", "@@-######"));
  EXPECT_FALSE(has_shape("AB-1234567", "@@-######"));
  EXPECT_TRUE(has_shape("DE12", "DE#+"));
  EXPECT_FALSE(has_shape("", "#"));
  EXPECT_TRUE(has_shape(std::string(100000, 'a') + "1", "@+@+@+@+@+#")) << "no input takes long";
}

TEST(Right, IsAnyTrueValueOfAField) {
  const Rules rules = invoice_rules();
  const Document truth =
      document_of(spans({{"total", "3.00"}, {"total", "4.00"}, {"item.quantity", "1"}}), rules);
  const auto right = [&](const std::vector<TextSpan>& given) {
    return is_right(document_of(given, rules), truth);
  };
  EXPECT_TRUE(right(spans({{"item.quantity", "1"}, {"total", "RM 3"}})));
  EXPECT_TRUE(right(spans({{"total", "4.00"}, {"item.quantity", "1"}})));
  EXPECT_FALSE(right(spans({{"total", "5.00"}, {"item.quantity", "1"}})));
  EXPECT_FALSE(right(spans({{"item.quantity", "1"}})));
  EXPECT_FALSE(right(spans({{"total", "3.00"}, {"item.quantity", "1"}, {"date", "1/1/2020"}})));
  EXPECT_FALSE(right(spans({{"total", "3.00"}, {"item.quantity", "2"}})));
  EXPECT_FALSE(right(spans({{"total", "3.00"}, {"item.quantity", "1"}, {"item.quantity", "1"}})));
  EXPECT_FALSE(right(spans({{"total", "3.00"}, {"item.quantity", "1"}, {"item.amount", "1"}})));
}

TEST(JsonOfADocument, HasPlacesValuesConflictsAndFailures) {
  const Rules rules = invoice_rules({{"required", Names{"company"}}});
  const Document document = document_of(
      spans({{"total@0.75", "RM 3"}, {"total@0.5", "4.00"}, {"date", "31/02/2020"}, {"item.quantity", "2"}}),
      rules);
  const Json json = Json::parse(json_of(document, rules, failures_of(document, rules), "review"));
  EXPECT_EQ(json["band"], "review");
  EXPECT_EQ(json["confidence"], 0.75);
  EXPECT_EQ(json["fields"]["total"], Json({{"text", "RM 3"},
                                           {"start", 0},
                                           {"end", 4},
                                           {"value", "3.00"},
                                           {"currency", "RM"},
                                           {"confidence", 0.75}}));
  EXPECT_EQ(json["fields"]["company"], nullptr);
  EXPECT_EQ(json["fields"]["date"]["value"], "31/02/2020");
  EXPECT_EQ(json["fields"]["date"]["problem"], "the calendar has no such date");
  EXPECT_EQ(json["groups"]["item"].size(), 1U);
  EXPECT_EQ(json["groups"]["item"][0]["quantity"]["value"], "2");
  EXPECT_EQ(json["groups"]["item"][0]["amount"], nullptr);
  EXPECT_EQ(json["conflicts"], Json::array({{{"field", "total"}, {"values", {"3.00", "4.00"}}}}));
  EXPECT_EQ(json["failed"].size(), 3U);
  EXPECT_EQ(json["failed"][0], Json({{"check", "required company"}, {"reason", "it was not found"}}));
  EXPECT_NO_THROW(
      Json::parse(json_of(document_of(spans({{"company", "\xFF"}}), rules), rules, {}, "answer")));
}

TEST(JsonOfADocument, HasThePartsOfAQuantity) {
  const Rules rules = rules_with(
      {{"fields", Names{"weight: unit", "size: unit", "due: date"}}, {"date_languages", Names{"de", "en"}}});
  const Document document =
      document_of(spans({{"weight", "3 x 0,5 KG"}, {"size", "3 feet"}, {"due", "1. M\u00E4rz 24"}}), rules);
  const Json json = Json::parse(json_of(document, rules, {}, "answer"));
  EXPECT_EQ(json["fields"]["weight"]["value"], "3 x 0.5 kg");
  EXPECT_EQ(json["fields"]["weight"]["count"], "3");
  EXPECT_EQ(json["fields"]["weight"]["number"], "0.5");
  EXPECT_EQ(json["fields"]["weight"]["unit"], "kg");
  EXPECT_FALSE(json["fields"]["size"].contains("unit"));
  EXPECT_EQ(json["fields"]["size"]["value"], "3 feet");
  EXPECT_EQ(json["fields"]["due"]["value"], "2024-03-01");
}

/// Returns the settings of bills and reminders, with changes.
std::map<std::string, OptionValue> mail_settings(std::map<std::string, OptionValue> settings = {}) {
  settings.insert(
      {"fields", Names{"number", "total: amount", "open: amount", "fee: amount", "claim: amount"}});
  settings.insert({"groups", Names{"item: name, amount: amount"}});
  settings.insert({"type_from", "kind.label"});
  settings.insert({"types", Names{"bill: number, total, item", "reminder: number, open, fee, claim"}});
  return settings;
}

TypedRules mail_rules(const std::map<std::string, OptionValue>& settings = {}) {
  Schema schema;
  add_rule_options(schema);
  add_type_options(schema);
  Options options;
  for (const Option& option : schema.options()) options.set_default(option.name, *option.fallback);
  for (const auto& [name, value] : mail_settings(settings)) options.set(name, value);
  return typed_rules_in(options);
}

TEST(DocumentTypes, HaveTheirFieldsAndChecks) {
  const TypedRules rules = mail_rules({{"required", Names{"number", "total", "reminder: fee"}},
                                       {"equations", Names{"sum(item.amount) = total", "open + fee = claim"}},
                                       {"shapes", Names{"number: ##", "total: #.##"}}});
  const auto names = [](const Rules& of_type) {
    Names all = of_type.required;
    for (const Equation& equation : of_type.equations) all.push_back(equation.text);
    for (const Shape& shape : of_type.shapes) all.push_back(shape.name);
    return all;
  };
  const Rules &bill = rules.of(DocumentType{.name = "bill"}),
              &reminder = rules.of(DocumentType{.name = "reminder"});
  EXPECT_EQ(bill.labels(), (Names{"number", "total", "item.name", "item.amount"}));
  EXPECT_EQ(reminder.labels(), (Names{"number", "open", "fee", "claim"}));
  EXPECT_EQ(names(bill), (Names{"number", "total", "sum(item.amount) = total", "number", "total"}));
  EXPECT_EQ(names(reminder), (Names{"number", "fee", "open + fee = claim", "number"}));
  EXPECT_EQ(
      failures(spans({{"number", "12"}, {"total", "3.00"}, {"item.amount", "2.00"}, {"claim", "9"}}), bill),
      Names{"sum(item.amount) = total: 2 is not 3"});
  EXPECT_EQ(
      failures(spans({{"number", "12"}, {"total", "3.00"}, {"open", "1"}, {"fee", "1"}, {"claim", "3"}}),
               reminder),
      Names{"open + fee = claim: 2 is not 3"});
}

TEST(DocumentTypes, LeaveDocumentsOfOtherTypesEmpty) {
  const TypedRules rules = mail_rules();
  const auto failures_with = [&](const char* name) {
    const DocumentType type{.name = name, .confidence = 0.5};
    const Document document = document_of(spans({{"number", "12"}}), rules.of(type), type);
    EXPECT_TRUE(document.fields.empty());
    const std::vector<Failure> failed = failures_of(document, rules.of(type));
    EXPECT_EQ(failed.size(), 1U);
    return failed[0].check + ": " + failed[0].reason;
  };
  EXPECT_EQ(failures_with("leaflet"), "type: \"leaflet\" is not one of the types bill, reminder");
  EXPECT_EQ(failures_with(""), "type: the document has no type: expected one of bill, reminder");
}

TEST(DocumentTypes, CountLikeAValue) {
  const TypedRules rules = mail_rules();
  const auto document = [&](const char* name, double confidence, const std::vector<TextSpan>& found) {
    const DocumentType type{.name = name, .confidence = confidence};
    return document_of(found, rules.of(type), type);
  };
  const std::vector<TextSpan> found = spans({{"number@0.8", "12"}});
  EXPECT_EQ(document("bill", 0.9, found).confidence(), 0.8);
  EXPECT_EQ(document("bill", 0.7, found).confidence(), 0.7);
  EXPECT_EQ(document("bill", 0.7, {}).confidence(), 0.0) << "there is no value";
  EXPECT_TRUE(is_right(document("bill", 0.9, found), document("bill", 1.0, found)));
  EXPECT_FALSE(is_right(document("reminder", 0.9, found), document("bill", 1.0, found)));
  const Json json =
      Json::parse(json_of(document("bill", 0.9, found), rules.of(DocumentType{.name = "bill"}), {}, ""));
  EXPECT_EQ(json["type"], Json({{"value", "bill"}, {"confidence", 0.9}}));
  EXPECT_FALSE(json["fields"].contains("claim"));
}

TEST(DocumentTypes, RefuseInvalidOptions) {
  const auto refusal = [](const char* option, const OptionValue& value) {
    return test::refusal([&] { mail_rules({{option, value}}); });
  };
  EXPECT_EQ(refusal("types", Names{"bill"}),
            "invalid types \"bill\": expected the name of a type and its fields and groups, such as \"bill: "
            "number, total, item\"");
  EXPECT_EQ(refusal("types", Names{"bill: number, totl"}),
            "invalid types \"bill: number, totl\": unknown field \"totl\": expected one of number, total, "
            "open, fee, "
            "claim, item");
  EXPECT_EQ(refusal("types", Names{"bill: number, number"}),
            "invalid types: the name \"number\" stands twice; expected each name once");
  EXPECT_EQ(refusal("types", Names{"bill: number", "bill: total"}),
            "invalid types: the name \"bill\" stands twice; expected each name once");
  EXPECT_EQ(refusal("types", Names{"bill: number, total, item, open, fee"}),
            "no type has \"claim\", which is in fields or groups: add it to an entry of types, or remove it");
  EXPECT_EQ(
      refusal("required", Names{"bil: total"}),
      "invalid required \"bil: total\": unknown type \"bil\": expected one of bill, reminder in front of "
      "\":\"");
  EXPECT_EQ(
      refusal("required", Names{"bill: claim"}),
      "invalid required \"bill: claim\": the type \"bill\" does not have \"claim\": add it to this entry of "
      "types, or remove it here");
  EXPECT_EQ(
      refusal("equations", Names{"reminder: total = claim"}),
      "invalid equations \"reminder: total = claim\": the type \"reminder\" does not have \"total\": add it "
      "to this entry of types, or remove it here");
  EXPECT_EQ(refusal("type_from", OptionValue(std::string())),
            "types needs type_from, the field with the type of each document: set it, such as type_from = "
            "\"kind.label\"");
  EXPECT_EQ(
      refusal("types", Names{}),
      "type_from needs types, what the documents of each type have: set it, such as types = [\"bill: number, "
      "total\", \"letter: number\"]");
  EXPECT_EQ(test::refusal([] {
              mail_rules({{"types", Names{}},
                          {"type_from", std::string()},
                          {"type_confidence", std::string("kind.score")}});
            }),
            "type_confidence needs types and type_from: set them, or remove it");
}

TEST(RulesOfADocument, RefuseInvalidOptions) {
  const auto refusal = [](const char* option, const Names& entries) {
    return test::refusal([&] { invoice_rules({{option, entries}}); });
  };
  const std::string types = "text, date, amount, number, phone, identifier, unit, account";
  EXPECT_EQ(refusal("fields", {"total: money"}),
            "invalid fields \"total: money\": expected one of the types " + types + " behind \"total:\"");
  EXPECT_EQ(
      refusal("fields", {"1st"}),
      "invalid fields \"1st\": expected a name of letters, digits and \"_\" that begins with a letter, found "
      "\"1st\"");
  EXPECT_EQ(refusal("fields", {"json"}),
            "invalid fields \"json\": the step gives a field \"json\" of its own; rename "
            "the label of this field in the data");
  EXPECT_EQ(refusal("fields", {"a", "a: date"}),
            "invalid fields: the name \"a\" stands twice; expected each name once");
  EXPECT_EQ(refusal("groups", {"item"}),
            "invalid groups \"item\": expected the name of a group and its members, such "
            "as \"item: description, quantity: number, amount: amount\"");
  EXPECT_EQ(refusal("groups", {"total: a"}),
            "invalid groups: the name \"total\" stands twice; expected each name once");
  EXPECT_EQ(refusal("groups", {"item: a, a"}),
            "invalid groups: the name \"a\" stands twice; expected each name once");
  EXPECT_EQ(refusal("groups", {"item: "}),
            "invalid groups \"item: \": expected a name of letters, digits and \"_\" that begins with a "
            "letter, found "
            "\"\"");
  const std::string known =
      "company, date, tax, total, item.quantity, item.description, item.price, item.amount";
  EXPECT_EQ(refusal("required", {"totl"}),
            "invalid required \"totl\": unknown field \"totl\": expected one of company, date, tax, total, "
            "item.quantity, item.description, item.price, item.amount, item");
  EXPECT_EQ(
      refusal("equations", {"sum(item.amount) = totl"}),
      "invalid equations \"sum(item.amount) = totl\": unknown field \"totl\": expected one of " + known);
  EXPECT_EQ(refusal("equations", {"total = company"}),
            "invalid equations \"total = company\": \"company\" is not a number: give it the type amount or "
            "number");
  EXPECT_EQ(refusal("equations", {"total"}),
            "invalid equations \"total\": expected \"=\" between two sides, such as "
            "\"sum(item.amount) = total\"");
  EXPECT_EQ(refusal("equations", {"total = tax ="}),
            "invalid equations \"total = tax =\": expected its end before \"=\"");
  EXPECT_EQ(refusal("equations", {"total = "}),
            "invalid equations \"total = \": expected a number, a field, or sum(GROUP.MEMBER) before \"\"");
  EXPECT_EQ(refusal("equations", {"sum(total) = tax"}),
            "invalid equations \"sum(total) = tax\": expected sum(GROUP.MEMBER) with a member of a group");
  EXPECT_EQ(refusal("equations", {"1.2.3 = tax"}),
            "invalid equations \"1.2.3 = tax\": \"1.2.3\" is not a number");
  EXPECT_EQ(refusal("shapes", {"total"}),
            "invalid shapes \"total\": expected NAME: SHAPE, in which # is a digit, @ a letter and + repeats "
            "the sign "
            "before it, such as \"number: @@-####+\"");
  EXPECT_EQ(test::refusal([] {
              invoice_rules({{"line_mark", "a b"}});
            }),
            "invalid line_mark \"a b\": expected one word without white space");
  EXPECT_EQ(refusal("date_languages", {"en", "nl"}),
            "invalid date_languages \"nl\": expected en, de, fr, es, it, or several of them");
  EXPECT_EQ(refusal("date_languages", {}),
            "date_languages is empty: expected at least one of en, de, fr, es, it");
  EXPECT_EQ(test::refusal([] {
              rules_with({{"required", Names{"total"}}});
            }),
            "invalid required \"total\": unknown field \"total\": expected a field of the options fields or "
            "groups, "
            "which are empty");
  const Names two = {"item: amount: amount", "fee: amount: amount"};
  EXPECT_EQ(
      test::refusal([&] {
        rules_with({{"groups", two}, {"equations", Names{"item.amount = fee.amount"}}});
      }),
      "invalid equations \"item.amount = fee.amount\": it has members of two groups: expected one group, or "
      "sum(GROUP.MEMBER)");
}

}  // namespace
}  // namespace encore::extract
