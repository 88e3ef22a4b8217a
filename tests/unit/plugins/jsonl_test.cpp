// SPDX-License-Identifier: BSD-3-Clause
// Tests the reader "jsonl" (plugins/readers/jsonl.hpp): accepted forms of JSON lines, the messages for
// refused ones, marked spans, and writing. Messages must name the file and the line; their words may change.
#include "jsonl.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>

#include "unit/plugins/without_remedy.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::jsonl {
namespace {

using testing::message_of;
using Texts = std::vector<std::string>;

struct Settings {
  std::string text = "text", text2 = "", label = "label", type = "text", bad_rows = "error";
  bool marked_spans = false;
  std::string source = "", target = "", answers = "", negatives = "";
};

JsonlReader make(const Settings& settings) {
  Options options;
  options.set("text_key", settings.text);
  options.set("text2_key", settings.text2);
  options.set("label_key", settings.label);
  options.set("label_type", settings.type);
  options.set("bad_rows", settings.bad_rows);
  options.set("marked_spans", settings.marked_spans);
  options.set("source_key", settings.source);
  options.set("target_key", settings.target);
  options.set("answers_key", settings.answers);
  options.set("negatives_key", settings.negatives);
  return {options, {}};
}

Records read(std::string_view text, const Settings& settings = {}) {
  const InputText file{"train.jsonl", text};
  return make(settings).read({&file, 1}, "training set");
}

std::string refusal(std::string_view text, const Settings& settings = {}) {
  return without_remedy(message_of<Error>([&] { read(text, settings); }));
}

TEST(Jsonl, ReadsTheTextAndItsLabel) {
  const Records records = read(
      "\xEF\xBB\xBF{\"text\": \"never\\nbetter\", \"label\": \"good\", \"more\": [1, {}]}\r\n\n"
      "{\"label\": 3, \"text\": \"caf\\u00e9\"}\n{\"text\": \"x\", \"label\": true}");
  EXPECT_EQ(records.texts("text"), (Texts{"never\nbetter", "caf\xC3\xA9", "x"}));
  EXPECT_EQ(records.texts("label"), (Texts{"good", "3", "true"}))
      << "whole numbers and truth values are names";
}

TEST(Jsonl, FollowsAKeyWithDotsIntoObjects) {
  const Settings nested = {.text = "fields.body", .label = "fields.kind.name"};
  const Records records = read(
      "{\"fields\": {\"body\": \"no parcel\", \"kind\": {\"name\": \"delivery\"}}}\n"
      "{\"fields.body\": \"no refund\", \"fields\": {\"body\": \"other\", \"kind.name\": \"billing\"}}\n",
      nested);
  EXPECT_EQ(records.texts("text"), (Texts{"no parcel", "no refund"})) << "a member comes before a path";
  EXPECT_EQ(records.texts("label"), (Texts{"delivery", "billing"}));
  EXPECT_EQ(refusal("{\"fields\": \"body\"}\n", nested),
            "train.jsonl:1: this object lacks the key \"fields.body\"");
  EXPECT_EQ(refusal("{\"fields\": {\"body\": 1}}\n", nested),
            "train.jsonl:1: \"fields.body\" is number, not a text");
}

TEST(Jsonl, ReadsASourceAndItsTarget) {
  const Settings settings = {.source = "document", .target = "summary"};
  const Records records =
      read("{\"document\": \"A dog runs.\", \"id\": 1, \"summary\": \"dog\"}\n", settings);
  EXPECT_EQ(records.fields().size(), 2U);
  EXPECT_EQ(records.texts("source"), Texts{"A dog runs."});
  EXPECT_EQ(records.texts("target"), Texts{"dog"});
  EXPECT_EQ(make(settings).write(records, FilePart::first),
            "{\"document\":\"A dog runs.\",\"summary\":\"dog\"}\n");
  EXPECT_EQ(refusal("{\"document\": \"a\"}\n", settings),
            "train.jsonl:1: this object lacks the key \"summary\"");
  const auto message = [](const Settings& wrong) { return message_of<OptionError>([&] { make(wrong); }); };
  EXPECT_EQ(message({.source = "a"}),
            "target_key is missing: a source and its target need both source_key and target_key");
  EXPECT_EQ(message({.source = "a", .target = "a"}), "target_key = \"a\" is also the key of the source");
  EXPECT_EQ(message({.type = "list", .source = "a", .target = "b"}),
            "label_type is for a text with a label, but source_key makes each line a source and its target: "
            "remove one of the two");
}

TEST(Jsonl, ReadsPairsListsAndNumbers) {
  const Records pairs = read("{\"a\": \"one\", \"b\": \"two\", \"score\": 4.5}\n",
                             {.text = "a", .text2 = "b", .label = "score", .type = "number"});
  EXPECT_EQ(pairs.texts("text"), Texts{"one"});
  EXPECT_EQ(pairs.texts("text2"), Texts{"two"});
  EXPECT_EQ(pairs.numbers("number"), Records::Numbers{4.5});
  EXPECT_EQ(
      read("{\"text\": \"a\", \"label\": [\"joy\", 3]}\n{\"text\": \"b\", \"label\": []}\n", {.type = "list"})
          .lists("labels"),
      (Records::TextLists{{"joy", "3"}, {}}));
  EXPECT_EQ(read("{\"text\": \"a\"}\n", {.label = ""}).fields().size(), 1U);
}

TEST(Jsonl, ReadsTheAnswersToAQuestion) {
  const Settings settings = {.label = "documents", .type = "list", .answers = "answers"};
  const Records records = read(
      "{\"text\": \"who?\", \"documents\": [\"d1\"], \"answers\": [\"Ada\", \"Ada Berg\"]}\n"
      "{\"answers\": [], \"text\": \"why?\", \"documents\": []}\n",
      settings);
  EXPECT_EQ(records.lists("labels").front(), Texts{"d1"});
  const Records::SpanLists& answers = records.spans("answers");
  ASSERT_EQ(answers.size(), 2U);
  ASSERT_EQ(answers[0].size(), 2U);
  EXPECT_EQ(answers[0][1], (TextSpan{.label = {}, .text = "Ada Berg"}));
  EXPECT_TRUE(answers[1].empty());
  const std::string written = make(settings).write(records, FilePart::first);
  EXPECT_EQ(read(written, settings).spans("answers"), answers) << written;

  const Settings alone = {.label = "", .answers = "answers"};
  const auto said = [&](const std::string& value) {
    return refusal("{\"text\": \"a\"" + value + "}\n", alone);
  };
  EXPECT_NE(said("").find("train.jsonl:1: this object lacks the key \"answers\""), std::string::npos)
      << said("");
  EXPECT_EQ(read("{\"text\": \"a\", \"answers\": \"b\"}\n", alone).spans("answers")[0],
            std::vector<TextSpan>{(TextSpan{.label = {}, .text = "b"})})
      << "one text is a list of one";
  EXPECT_NE(said(", \"answers\": \" \"").find("the text of \"answers\" is empty"), std::string::npos);
  for (const char* wrong : {"3", "null"})
    EXPECT_NE(said(std::string(", \"answers\": ") + wrong).find(", not a list or a text"), std::string::npos);
  EXPECT_NE(said(", \"answers\": [3]").find("holds 3, which is not an answer"), std::string::npos);
  EXPECT_NE(message_of<OptionError>([&] { make({.answers = "text"}); }).find("is also the key"),
            std::string::npos);
  EXPECT_NE(message_of<OptionError>([&] {
              make({.label = "", .source = "a", .target = "b", .answers = "c"});
            }).find("answers_key is for a text"),
            std::string::npos);
}

TEST(Jsonl, ReadsNegatives) {
  const Settings settings = {.text2 = "right", .label = "", .negatives = "wrong"};
  const Records records = read("{\"text\": \"a\", \"right\": \"b\", \"wrong\": [\"c\", \"d\"]}\n", settings);
  EXPECT_EQ(records.lists("negatives"), (Records::TextLists{{"c", "d"}}));
  const std::string written = make(settings).write(records, FilePart::first);
  EXPECT_EQ(read(written, settings).lists("negatives"), records.lists("negatives")) << written;
  EXPECT_EQ(refusal("{\"text\": \"a\", \"right\": \"b\", \"wrong\": [\" \"]}\n", settings),
            "train.jsonl:1: the list of \"wrong\" holds \" \", which is not a text");
  const auto message = [](const Settings& wrong) { return message_of<OptionError>([&] { make(wrong); }); };
  EXPECT_NE(message({.negatives = "wrong"}).find("text2_key is missing"), std::string::npos);
  EXPECT_EQ(message({.text2 = "right", .negatives = "right"}),
            "negatives_key = \"right\" is also the key of another field");
}

TEST(Jsonl, NamesWhatIsWrongWithALine) {
  const std::string at = "train.jsonl:1: ";
  EXPECT_EQ(refusal("{\"text\": \"a\"\n"), at + "this line is not valid JSON: byte 13 cannot be read");
  EXPECT_EQ(refusal("[1]\n"), at + "this line is a JSON array; expected one object per line, as jq -c '.[]' "
                                   "FILE writes the objects of an array");
  EXPECT_EQ(refusal("{\"label\": \"x\"}\n"), at + "this object lacks the key \"text\"");
  EXPECT_EQ(refusal("{\"text\": 3, \"label\": \"x\"}\n"), at + "\"text\" is number, not a text");
  EXPECT_EQ(refusal("{\"text\": \" \", \"label\": \"x\"}\n"), at + "the text of \"text\" is empty");
  EXPECT_EQ(refusal("{\"text\": \"a\"}\n"), at + "this object lacks the key \"label\"");
  EXPECT_EQ(refusal("{\"text\": \"a\", \"label\": \"\"}\n"), at + "the label of \"label\" is empty");
  EXPECT_EQ(refusal("{\"text\": \"a\", \"label\": [\"x\"]}\n"), at + "\"label\" is array, not a name");
  EXPECT_EQ(refusal("{\"text\": \"a\", \"label\": \"x\"}\n", {.type = "list"}),
            at + "\"label\" is string, not a list of names");
  EXPECT_EQ(refusal("{\"text\": \"a\", \"label\": [\"x\", {}]}\n", {.type = "list"}),
            at + "the list of \"label\" holds {}, which is not a name");
  EXPECT_EQ(refusal("{\"text\": \"a\", \"label\": \"3\"}\n", {.type = "number"}),
            at + "\"label\" is string, not a number");
  EXPECT_EQ(refusal("{\"text\": \"a\", \"label\": 1e999}\n", {.type = "number"}),
            at + "this line holds a number that is too large");
}

TEST(Jsonl, RefusesLinesThatNestTooDeepOrAreTooLong) {
  const std::string deep = "{\"text\": \"a\", \"label\": \"x\", \"more\": " + std::string(100000, '[');
  EXPECT_EQ(refusal(deep), "train.jsonl:1: this line nests more than 32 levels deep");
  const std::string long_line =
      "{\"text\": \"" + std::string(JsonlReader::most_bytes, 'a') + "\", \"label\": \"x\"}";
  EXPECT_EQ(refusal(long_line), "train.jsonl:1: this line has " + std::to_string(long_line.size()) +
                                    " bytes: expected at most 16777216");
}

TEST(Jsonl, NamesEveryBadLineOrSkipsThem) {
  const std::string text = "{}\n{\"text\": \"a\", \"label\": \"x\"}\n\nno\n";
  EXPECT_EQ(refusal(text),
            "train.jsonl:1: this object lacks the key \"text\"\ntrain.jsonl:4: this line is not valid JSON: "
            "byte 2 cannot be read");
  const Records records = read(text, {.bad_rows = "skip"});
  EXPECT_EQ(records.texts("text"), Texts{"a"});
  EXPECT_EQ(records.notes,
            Texts{"2 of 3 rows are skipped; the first: train.jsonl:1: this object lacks the key \"text\""});
  EXPECT_EQ(refusal("\n \r\n"),
            "train.jsonl: the training set is empty: expected at least one object with a text");
  EXPECT_EQ(refusal("{}\n", {.bad_rows = "skip"}),
            "train.jsonl: the training set has no line that can be read; 1 of 1 rows is skipped: "
            "train.jsonl:1: this object lacks the key \"text\"");
}

TEST(Jsonl, RefusesEqualKeys) {
  const auto message = [](const Settings& settings) {
    return message_of<OptionError>([&] { make(settings); });
  };
  EXPECT_EQ(message({.text = ""}), "text_key is empty: name the key of the text");
  EXPECT_EQ(message({.text2 = "text"}), "text2_key = \"text\" is also the key of the first text");
  EXPECT_EQ(message({.label = "text"}), "label_key = \"text\" is also the key of a text");
  EXPECT_EQ(message({.text2 = "b", .label = "b"}), "label_key = \"b\" is also the key of a text");
}

TEST(Jsonl, ReadsWhatItWrites) {
  Records records;
  records.add("text", Texts{"a \"b\"\n", "", "caf\xC3\xA9"});
  records.add("labels", Records::TextLists{{"joy"}, {}, {}});
  const JsonlReader reader = make({.type = "list"});
  const std::string text = reader.write(records, FilePart::first);
  EXPECT_EQ(text,
            "{\"label\":[\"joy\"],\"text\":\"a \\\"b\\\"\\n\"}\n\n{\"label\":[],\"text\":\"caf\xC3\xA9\"}\n");
  const Records again = read(text, {.type = "list"});
  EXPECT_EQ(again.texts("text"), (Texts{"a \"b\"\n", "caf\xC3\xA9"}));
  EXPECT_EQ(again.lists("labels"), (Records::TextLists{{"joy"}, {}}));
}

TEST(Jsonl, TakesMarkedSpansOutAndPutsThemBack) {
  const Settings settings = {.marked_spans = true};
  const std::string line = "{\"label\":\"x\",\"text\":\"a <e2>b</e2> <e1>c</e1>\"}\n";
  const Records records = read(line, settings);
  EXPECT_EQ(records.texts("text"), Texts{"a b c"});
  EXPECT_EQ(records.spans("spans")[0], (std::vector<TextSpan>{{"e1", "c", 4, 5}, {"e2", "b", 2, 3}}));
  EXPECT_EQ(make(settings).write(records, FilePart::first), line);
  EXPECT_EQ(
      refusal("{\"text\": \"a\", \"label\": \"x\"}\n", settings),
      "train.jsonl:1: the text has no <e1>: expected two spans, between <e1> and </e1>, <e2> and </e2>");
}

TEST(Jsonl, ReportsThatOneObjectPerLineIsExpected) {
  const auto refused = [](std::string_view text) { return message_of<Error>([&] { read(text); }); };
  const std::string array =
      refused("[\n{\"text\": \"a\", \"label\": \"x\"},\n{\"text\": \"b\", \"label\": \"y\"}\n]\n");
  EXPECT_NE(array.find("train.jsonl:1: this line is part of a JSON array that spans several lines; expected "
                       "one object per line"),
            std::string::npos)
      << array;
  EXPECT_EQ(array.find("JSON object that"), std::string::npos)
      << "its lines are parts of the array: " << array;
  EXPECT_NE(refused("[{\"text\": \"a\", \"label\": \"x\"}]\n")
                .find("is a JSON array; expected one object per line"),
            std::string::npos);
  EXPECT_NE(refused("{\n\"text\": \"a\",\n\"label\": \"x\"\n}\n").find("JSON object that spans"),
            std::string::npos);
  EXPECT_EQ(read("{\"text\": \"a\", \"label\": \"x\"}\r{\"text\": \"b\", \"label\": \"y\"}\r").size(), 2U);
}

}  // namespace
}  // namespace encore::jsonl
