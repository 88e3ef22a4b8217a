// SPDX-License-Identifier: BSD-3-Clause
// Tests the reader "tsv" (plugins/readers/tsv.hpp), tables with tabs or as CSV: accepted forms, the messages
// for refused ones, marked spans, and writing. What it writes must be read back as the same records. The
// words of messages may change.
#include "tsv.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>

#include "unit/plugins/without_remedy.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::tsv {
namespace {

using testing::message_of;
using Texts = std::vector<std::string>;

struct Settings {
  std::string text = "1", label = "2";
  bool header = false;
  std::string text2 = "", type = "text", separator = ",", delimiter = "tab", bad_rows = "error";
  bool marked_spans = false;
  std::string source = "", target = "";
};

TsvReader make(const Settings& settings) {
  Options options;
  options.set("text_column", settings.text);
  options.set("label_column", settings.label);
  options.set("header", settings.header);
  options.set("text2_column", settings.text2);
  options.set("label_type", settings.type);
  options.set("label_separator", settings.separator);
  options.set("delimiter", settings.delimiter);
  options.set("bad_rows", settings.bad_rows);
  options.set("marked_spans", settings.marked_spans);
  options.set("source_column", settings.source);
  options.set("target_column", settings.target);
  return {options, {}};
}

Records read(std::string_view text, const Settings& settings = {}) {
  const InputText file{"train.tsv", text};
  return make(settings).read({&file, 1}, "training set");
}

std::string refusal(std::string_view text, const Settings& settings = {}) {
  return without_remedy(message_of<Error>([&] { read(text, settings); }));
}

TEST(Tsv, ReadsTheTextAndItsLabel) {
  const Records records = read("never better\tgood\nthe worst\tbad\n");
  EXPECT_EQ(records.texts("text"), (Texts{"never better", "the worst"}));
  EXPECT_EQ(records.texts("label"), (Texts{"good", "bad"}));
}

TEST(Tsv, ReadsASourceAndItsTarget) {
  const Settings settings = {.header = true, .source = "en", .target = "de"};
  const Records records = read("id\tde\ten\n1\tEin Hund\tA dog\n", settings);
  EXPECT_EQ(records.fields().size(), 2U);
  EXPECT_EQ(records.texts("source"), Texts{"A dog"});
  EXPECT_EQ(records.texts("target"), Texts{"Ein Hund"});
  EXPECT_EQ(make(settings).write(records, FilePart::first), "en\tde\nA dog\tEin Hund\n");
  EXPECT_EQ(make({.source = "1", .target = "2"}).write(records, FilePart::first), "A dog\tEin Hund\n");
  EXPECT_EQ(refusal("A dog\t\n", {.source = "1", .target = "2"}),
            "train.tsv:1: the target in column 2 is empty");
}

TEST(Tsv, RefusesASourceWithoutATargetOrWithOptionsOfAText) {
  const auto message = [](const Settings& settings) {
    return message_of<OptionError>([&] { make(settings); });
  };
  EXPECT_EQ(message({.source = "1"}),
            "target_column is missing: a source and its target need both source_column and target_column");
  EXPECT_EQ(message({.target = "1"}),
            "source_column is missing: a source and its target need both source_column and target_column");
  EXPECT_EQ(message({.source = "1", .target = "1"}),
            "target_column = \"1\" is also the column of the source: source and target need a column each");
  EXPECT_EQ(message({.text2 = "3", .source = "1", .target = "2"}),
            "text2_column is for a text with a label, but source_column makes each row a source and its "
            "target: remove one of the two");
}

TEST(Tsv, TakesColumnsByNumber) {
  const Records records = read("NUM\tdate\tWhen ?\nHUM\tdesc\tWho ?\n", {.text = "3", .label = "1"});
  EXPECT_EQ(records.texts("text"), (Texts{"When ?", "Who ?"}));
  EXPECT_EQ(records.texts("label"), (Texts{"NUM", "HUM"}));
}

TEST(Tsv, TakesColumnsByTheNamesInTheFirstLineOfEachFile) {
  const TsvReader reader = make({.text = "sentence", .label = "label", .header = true});
  const std::vector<InputText> files = {{"a.tsv", "id\tsentence\tlabel\n7\tnever better\tgood\n"},
                                        {"b.tsv", "label\tsentence\nbad\tthe worst\n"}};
  const Records records = reader.read(files, "training set");
  EXPECT_EQ(records.texts("text"), (Texts{"never better", "the worst"}));
  EXPECT_EQ(records.texts("label"), (Texts{"good", "bad"}));
  EXPECT_EQ(read("x\ty\nfine\tgood\n", {.header = true}).texts("text"), Texts{"fine"})
      << "numbers serve beside a header too";
}

TEST(Tsv, AcceptsWhatOtherToolsWrite) {
  const Records records = read("\xEF\xBB\xBF\"so\" \t good \r\n\r\n  \nit's \"5\"\" long\tbad");
  EXPECT_EQ(records.texts("text"), (Texts{"\"so\"", "it's \"5\"\" long"})) << "quotation marks mean nothing";
  EXPECT_EQ(records.texts("label"), (Texts{"good", "bad"}));
}

TEST(Tsv, SkipsTheFirstLineWhereItStandsAgain) {
  const std::string file = "text\tlabel\nfine\tgood\n";
  EXPECT_EQ(read(file + file, {.header = true}).texts("text"), (Texts{"fine", "fine"}));
}

TEST(Tsv, RefusesRowsThatLackAColumnOrAValue) {
  EXPECT_EQ(refusal("fine good\n"),
            "train.tsv:1: this row has 1 column and no column 2, which holds the label; columns are "
            "separated by tabs");
  EXPECT_EQ(refusal("a\tb\n", {.text = "3", .label = "1"}),
            "train.tsv:1: this row has 2 columns and no column 3, which holds the text; columns are "
            "separated by tabs");
  EXPECT_EQ(refusal("fine\tgood\n \tgood\nfine\t\n"),
            "train.tsv:2: the text in column 1 is empty\ntrain.tsv:3: the label in column 2 is empty");
  EXPECT_EQ(
      refusal("fine\tgood\nwith a\ttab\tbad\n"),
      "train.tsv:2: this row has 3 columns, the rows before it have 2; every row needs the same columns");
  EXPECT_EQ(
      refusal("text\tlabel\tid\nfine\tgood\n", {.header = true}),
      "train.tsv:2: this row has 2 columns, the rows before it have 3; every row needs the same columns");
}

TEST(Tsv, SaysWhatElseCanBeDone) {
  const auto whole = [](std::string_view text, const Settings& settings = {}) {
    return message_of<Error>([&] { read(text, settings); });
  };
  EXPECT_EQ(whole("fine\tgood\nfine\t\n"),
            "train.tsv:2: the label in column 2 is empty" + std::string(skip_remedy));
  EXPECT_EQ(whole("fine\t\n"), "train.tsv:1: the label in column 2 is empty")
      << "nothing would be left without the invalid rows";
  EXPECT_TRUE(whole("fine,good\n")
                  .ends_with("columns are separated by tabs; if its columns are separated by "
                             "\",\", set data.delimiter = \",\""))
      << whole("fine,good\n");
  EXPECT_TRUE(whole("text;kind\nfine;good\n", {.text = "text", .label = "kind", .header = true})
                  .ends_with("this line names \"text;kind\"; if its columns are separated by \";\", set "
                             "data.delimiter = \";\""))
      << whole("text;kind\nfine;good\n", {.text = "text", .label = "kind", .header = true});
}

TEST(Tsv, NamesEveryBadRowOfAllFilesUpToALimit) {
  const std::vector<InputText> files = {{"a.tsv", "fine\tgood\nfine\t\n"}, {"b.tsv", "\tgood\n"}};
  EXPECT_EQ(message_of<Error>([&] { make({}).read(files, "training set"); }),
            "a.tsv:2: the label in column 2 is empty\nb.tsv:1: the text in column 1 is empty" +
                std::string(skip_remedy));
  std::string text;
  for (int i = 0; i < 11; ++i) text += "fine\t\n";
  EXPECT_TRUE(
      refusal(text).ends_with("\ntrain.tsv:10: the label in column 2 is empty\nand 1 more row like these"));
  EXPECT_TRUE(refusal(text + text).ends_with("\nand 12 more rows like these"));
}

TEST(Tsv, RefusesNamesThatTheFirstLineLacks) {
  const Settings names = {.text = "sentence", .label = "label", .header = true};
  EXPECT_EQ(refusal("text\tlabel\nfine\tgood\n", names),
            "train.tsv:1: no column is called \"sentence\"; this line names \"text\", \"label\"");
  EXPECT_EQ(
      refusal("sentence\tlabel\tlabel\nfine\tgood\tbad\n", names),
      "train.tsv:1: two columns are called \"label\"; this line names \"sentence\", \"label\", \"label\"");
  EXPECT_EQ(refusal("label\tid\nfine\t1\n", {.text = "1", .label = "label", .header = true}),
            "train.tsv:1: \"1\" and \"label\" are one column: text and label need a column each");
}

TEST(Tsv, RefusesAnEmptySet) {
  const std::string expected =
      "train.tsv: the training set is empty: expected at least one row with a text and a label";
  EXPECT_EQ(refusal(""), expected);
  EXPECT_EQ(refusal("\n \r\n"), expected);
  EXPECT_EQ(refusal("text\tlabel\n", {.header = true}), expected);
}

TEST(Tsv, RefusesOptionsThatNameNoColumn) {
  const auto message = [](const Settings& settings) {
    return message_of<OptionError>([&] { make(settings); });
  };
  EXPECT_EQ(message({.text = "0"}), "invalid text_column = \"0\": expected the number of a column, from 1");
  EXPECT_EQ(message({.label = "99999999999999999999999"}),
            "invalid label_column = \"99999999999999999999999\": expected the number of a column, from 1");
  for (const std::string name : {"label", "-1", " "})
    EXPECT_EQ(message({.label = name}), "invalid label_column = \"" + name +
                                            "\": expected the number of a column, from 1; a name in the "
                                            "first line of the file needs header = true");
  EXPECT_EQ(message({.text = "2"}),
            "label_column = \"2\" is also the column of the text: text and label need a column each");
  EXPECT_EQ(message({.text = "x", .label = "x", .header = true}),
            "label_column = \"x\" is also the column of the text: text and label need a column each");
}

TEST(Tsv, GivesTheFieldsThatItsOptionsAskFor) {
  const auto fields = [](const Records& records) {
    Texts names;
    for (const Records::Field& field : records.fields()) names.push_back(field.name);
    return names;
  };
  EXPECT_EQ(fields(read("a\tb\n")), (Texts{"text", "label"}));
  EXPECT_EQ(fields(read("a\tb\tc\n", {.label = "3", .text2 = "2"})), (Texts{"text", "text2", "label"}));
  EXPECT_EQ(fields(read("a\tb\n", {.label = "", .text2 = "2"})), (Texts{"text", "text2"}));
  EXPECT_EQ(fields(read("a\n", {.label = ""})), Texts{"text"});
  EXPECT_EQ(fields(read("a\tb\n", {.type = "list"})), (Texts{"text", "labels"}));
  EXPECT_EQ(fields(read("a\t1\n", {.type = "number"})), (Texts{"text", "number"}));
}

TEST(Tsv, ReadsPairs) {
  const Records records = read("id\ta\tb\tkind\n7\tone text\tanother\tsame\n",
                               {.text = "a", .label = "kind", .header = true, .text2 = "b"});
  EXPECT_EQ(records.texts("text"), Texts{"one text"});
  EXPECT_EQ(records.texts("text2"), Texts{"another"});
  EXPECT_EQ(records.texts("label"), Texts{"same"});
  EXPECT_EQ(refusal("one\t\tsame\n", {.label = "3", .text2 = "2"}),
            "train.tsv:1: the second text in column 2 is empty");
}

TEST(Tsv, ReadsListsOfLabels) {
  using Lists = Records::TextLists;
  EXPECT_EQ(read("a\t3, 7\nb\t\nc\t12\n", {.type = "list"}).lists("labels"), (Lists{{"3", "7"}, {}, {"12"}}))
      << "a text may have no label";
  EXPECT_EQ(read("a\tjoy; love\n", {.type = "list", .separator = ";"}).lists("labels"),
            (Lists{{"joy", "love"}}));
  for (const char* list : {"3,,7", ",3", "3,", ","})
    EXPECT_EQ(
        refusal(std::string("a\t") + list + "\n", {.type = "list"}),
        "train.tsv:1: the list of labels in column 2 has an empty place: \"" + std::string(list) + "\"");
}

TEST(Tsv, ReadsNumbers) {
  EXPECT_EQ(read("a\t3\nb\t-0.5\nc\t1e2\n", {.type = "number"}).numbers("number"),
            (Records::Numbers{3.0, -0.5, 100.0}));
  EXPECT_EQ(refusal("a\tthree\nb\t1,5\nc\tnan\nd\t\n", {.type = "number"}),
            "train.tsv:1: the label in column 2 is not a number: \"three\"\ntrain.tsv:2: the label in column "
            "2 is not a number: \"1,5\"\ntrain.tsv:3: the label in column 2 is not a number: "
            "\"nan\"\ntrain.tsv:4: the label in column 2 is empty");
}

TEST(Tsv, ReadsCsvWithQuotationMarks) {
  const Records records = read(
      "text,label\r\n\"so, so\",good\r\n\"a \"\"great\"\"\nfilm\" , bad\n\nplain \"5\"\" long,good\n\" kept "
      "\",\"b\"",
      {.text = "text", .label = "label", .header = true, .delimiter = ","});
  EXPECT_EQ(records.texts("text"), (Texts{"so, so", "a \"great\"\nfilm", "plain \"5\"\" long", " kept "}));
  EXPECT_EQ(records.texts("label"), (Texts{"good", "bad", "good", "b"}));
  EXPECT_EQ(read("a;b\n", {.delimiter = ";"}).texts("label"), Texts{"b"});
  EXPECT_EQ(read("a\tb\n", {.delimiter = "\t"}).texts("label"), Texts{"b"});
}

TEST(Tsv, CountsTheLinesOfQuotedValues) {
  EXPECT_EQ(refusal("\"a\nb\nc\",good\n\"d\",\n", {.delimiter = ","}),
            "train.tsv:4: the label in column 2 is empty");
  EXPECT_EQ(refusal("a,b\n\"c\"d,e\n", {.delimiter = ","}),
            "train.tsv:2: letters follow the closing quotation mark of column 1; a quotation mark within a "
            "value is "
            "written twice");
  EXPECT_EQ(refusal("a,b\nc,\"d\ne,f\n", {.delimiter = ","}),
            "train.tsv:2: the quotation mark that opens column 2 is never closed");
  EXPECT_EQ(refusal("a b\n", {.delimiter = ","}),
            "train.tsv:1: this row has 1 column and no column 2, which holds the label; columns are "
            "separated by \",\"");
}

TEST(Tsv, SkipsBadRowsOnRequest) {
  const Records records = read("fine\tgood\n \tgood\nfine\t\nbetter\tgood\n", {.bad_rows = "skip"});
  EXPECT_EQ(records.texts("text"), (Texts{"fine", "better"}));
  EXPECT_EQ(records.notes,
            Texts{"2 of 4 rows are skipped; the first: train.tsv:2: the text in column 1 is empty"});
  EXPECT_EQ(read("fine\tgood\nfine\t\n", {.bad_rows = "skip"}).notes,
            Texts{"1 of 2 rows is skipped: train.tsv:2: the label in column 2 is empty"});
  EXPECT_TRUE(read("fine\tgood\n", {.bad_rows = "skip"}).notes.empty());
  EXPECT_EQ(refusal("fine\t\n", {.bad_rows = "skip"}),
            "train.tsv: the training set has no row that can be read; 1 of 1 rows is skipped: train.tsv:1: "
            "the label "
            "in column 2 is empty");
}

TEST(Tsv, RefusesOptionsThatDoNotGoTogether) {
  const auto message = [](const Settings& settings) {
    return message_of<OptionError>([&] { make(settings); });
  };
  EXPECT_EQ(message({.text2 = "1"}),
            "text2_column = \"1\" is also the column of the text: text and second text need a column each");
  EXPECT_EQ(message({.text2 = "2"}),
            "label_column = \"2\" is also the column of the second text: second text and label need a "
            "column each");
  for (const std::string delimiter : {"", "::", "a", " ", "\"", "\n"})
    EXPECT_EQ(
        message({.delimiter = delimiter}),
        "invalid delimiter = \"" + delimiter +
            "\": expected \"tab\", or one character that is not a letter, digit, blank or quotation mark");
  for (const std::string separator : {"", " ", ",\t"})
    EXPECT_EQ(message({.type = "list", .separator = separator}),
              "invalid label_separator = \"" + separator + "\": expected a character such as \",\"");
}

TEST(Tsv, ReadsWhatItWritesOfEveryKind) {
  Records records;
  records.add("text", Texts{"so, \"so\"", " a\nb ", ""});
  records.add("text2", Texts{"x", "y\tz", "-"});
  records.add("labels", Records::TextLists{{"joy", "love"}, {}, {"rage"}});
  const Settings csv = {.label = "3", .text2 = "2", .type = "list", .delimiter = ","};
  const std::string text = make(csv).write(records, FilePart::first);
  EXPECT_EQ(text, "\"so, \"\"so\"\"\",x,\"joy,love\"\n\" a\nb \",y\tz,\n\n");
  const Records again = read(text, csv);
  EXPECT_EQ(again.texts("text"), (Texts{"so, \"so\"", " a\nb "}));
  EXPECT_EQ(again.texts("text2"), (Texts{"x", "y\tz"}));
  EXPECT_EQ(again.lists("labels"), (Records::TextLists{{"joy", "love"}, {}}));
  Records numbers;
  numbers.add("text", Texts{"a"});
  numbers.add("number", Records::Numbers{0.1});
  EXPECT_EQ(make({.type = "number"}).write(numbers, FilePart::first), "a\t0.1\n");
}

TEST(Tsv, ReadsWhatItWrites) {
  Records records;
  records.add("text", Texts{"never better", "", "a\ttab and a\nbreak"});
  records.add("label", Texts{"good", "bad", "odd"});
  EXPECT_EQ(make({}).write(records, FilePart::first), "never better\tgood\n\na tab and a break\todd\n");
  EXPECT_EQ(make({.text = "3", .label = "1"}).write(records, FilePart::later),
            "good\t-\tnever better\n\nodd\t-\ta tab and a break\n");
  for (const Settings& settings :
       {Settings{}, Settings{.text = "4", .label = "2"}, Settings{.text = "s", .label = "l", .header = true},
        Settings{.text = "s", .label = "1", .header = true},
        Settings{.text = "2", .label = "l", .header = true},
        Settings{.text = "1", .label = "l", .header = true},
        Settings{.text = "s", .label = "2", .header = true}}) {
    const TsvReader reader = make(settings);
    const std::string once = reader.write(records, FilePart::first);
    const Records again = read(once + reader.write(records, FilePart::later), settings);
    EXPECT_EQ(again.texts("text"),
              (Texts{"never better", "a tab and a break", "never better", "a tab and a break"}))
        << once;
    EXPECT_EQ(again.texts("label"), (Texts{"good", "odd", "good", "odd"})) << once;
    EXPECT_EQ(read(once + once, settings).size(), 4U) << "whole files, put one behind the other";
  }
}

TEST(TsvSpans, TakesTheMarksOutAndPutsThemBack) {
  const std::string text =
      "The <e2>caf\u00e9</e2>'s <e1>owner</e1> left\tOwner(e1,e2)\n<e1>a</e1><e2>b</e2>\tOther\n";
  const Settings settings = {.marked_spans = true};
  const Records records = read(text, settings);
  EXPECT_EQ(records.texts("text"), (Texts{"The caf\u00e9's owner left", "ab"}));
  EXPECT_EQ(records.spans("spans")[0],
            (std::vector<TextSpan>{{"e1", "owner", 11, 16}, {"e2", "caf\u00e9", 4, 8}}))
      << "e1 first, in code points";
  EXPECT_EQ(records.spans("spans")[1], (std::vector<TextSpan>{{"e1", "a", 0, 1}, {"e2", "b", 1, 2}}));
  EXPECT_EQ(make(settings).write(records, FilePart::first), text);
}

TEST(TsvSpans, NamesTheLinesWhoseMarksAreWrong) {
  const auto said = [](const std::string& text) {
    const std::string message =
        refusal("<e1>a</e1> <e2>b</e2>\tgood\n" + text + "\tgood\n", {.marked_spans = true});
    EXPECT_EQ(message.substr(0, 13), "train.tsv:2: ") << text;
    return message.substr(std::min<std::size_t>(13, message.size()));
  };
  EXPECT_EQ(said("a b"), "the text has no <e1>: expected two spans, between <e1> and </e1>, <e2> and </e2>");
  EXPECT_EQ(said("<e1>a</e1> b"),
            "the text has no <e2>: expected two spans, between <e1> and </e1>, <e2> and </e2>");
  EXPECT_EQ(said("<e1>a <e2>b</e2>"), "<e2> is within <e1>; the two spans must not overlap");
  EXPECT_EQ(said("<e1>a <e2>b</e1> c</e2>"), "<e2> is within <e1>; the two spans must not overlap");
  EXPECT_EQ(said("<e1>a</e2> b"), "</e2> is within <e1>; the two spans must not overlap");
  EXPECT_EQ(said("a</e1> b"), "</e1> occurs without a <e1> before it");
  EXPECT_EQ(said("<e1>a</e1> <e1>b</e1>"), "<e1> occurs twice in the text");
  EXPECT_EQ(said("<e1>a</e1> <e2>b"), "<e2> is not closed by </e2>");
  EXPECT_EQ(said("<e1> </e1> <e2>b</e2>"), "nothing is between <e1> and </e1>");
  const Records kept =
      read("<e1>a</e1> b\tgood\n<e1>a</e1> <e2>b</e2>\tbad\n", {.bad_rows = "skip", .marked_spans = true});
  EXPECT_EQ(kept.texts("label"), Texts{"bad"});
}

TEST(Tsv, EndsRowsWithAnyLineEnd) {
  for (const std::string end : {"\n", "\r\n", "\r", "\r\r\n"}) {
    const Records records = read("a\tgood" + end + "b\tbad" + end);
    EXPECT_EQ(records.texts("text"), (Texts{"a", "b"}));
    EXPECT_EQ(records.texts("label"), (Texts{"good", "bad"}));
    EXPECT_TRUE(records.notes.empty());
    EXPECT_EQ(read("a,good" + end + "\"b" + end + "c\",bad" + end + "d,e", {.delimiter = ","}).texts("text"),
              (Texts{"a", "b" + end + "c", "d"}));
    EXPECT_EQ(refusal("a\tgood" + end + "b" + end).substr(0, 12), "train.tsv:2:");
  }
  EXPECT_EQ(read("a\tgood\nb\tbad\rc\tbad\n").notes,
            Texts{"train.tsv: 1 lone carriage return (CR) is read as a line end"});
  EXPECT_EQ(refusal("a\rb\tgood\nc\tbad\n").substr(0, 12), "train.tsv:1:");
}

TEST(Tsv, WritesAValueWithACarriageReturnSoThatItIsReadBack) {
  const Settings comma = {.delimiter = ","};
  const Records records = read("\"a\rb\",good\n", comma);
  EXPECT_EQ(records.texts("text"), Texts{"a\rb"});
  EXPECT_EQ(make(comma).write(records, FilePart::first), "\"a\rb\",good\n");
  EXPECT_EQ(make({}).write(records, FilePart::first), "a b\tgood\n");
}

TEST(Tsv, RefusesListsThatAreSpelledAsThoseOfAProgram) {
  const Settings list = {.type = "list"};
  EXPECT_EQ(refusal("x\t['joy', 'love']\n", list),
            "train.tsv:1: the label in column 2 is written as a list of a program: \"['joy', 'love']\"; "
            "write joy,love");
  for (const char* value :
       {"[]", "['joy']", "[joy, love]", "{\"joy\", \"love\"}", "('joy',)", "'joy', 'love'", "\"joy\""})
    EXPECT_NE(refusal(std::string("x\t") + value + "\n", list).find("written as a list"), std::string::npos)
        << value;
  for (const char* value : {"[A]", "[A],[B]", "joy, love", "(x", "it's"})
    EXPECT_EQ(read(std::string("x\t") + value + "\n", list).size(), 1U) << value;
  EXPECT_NE(refusal("x\t['joy']\n").find("label_type = \"list\""), std::string::npos);
}

TEST(Tsv, RefusesALineOfHeadingsWithoutHeader) {
  EXPECT_EQ(refusal("text\tlabel\nfine\tgood\n"),
            "train.tsv:1: this row names the columns (\"text\", \"label\") and is not an example: set header "
            "= true");
  EXPECT_NE(refusal("Source\tTarget\na\tb\n", {.source = "1", .target = "2"}).find("header = true"),
            std::string::npos);
  EXPECT_NE(refusal("text\tscore\na\t1\n", {.type = "number"}).find("header = true"), std::string::npos);
  EXPECT_EQ(read("text\tlabel\nfine\tgood\n", {.header = true}).size(), 1U);
  EXPECT_EQ(read("text\tgood\nfine\tlabel\ntext\tlabel\n").size(), 3U);
}

TEST(Tsv, NamesTheRowsOfAllFiles) {
  std::string many;
  for (int i = 0; i < 12; ++i) many += "a\n";
  const std::vector<InputText> files = {{"a.tsv", many}, {"b.tsv", "x\tgood\ny\n"}};
  const std::string message = message_of<Error>([&] { make({}).read(files, "training set"); });
  EXPECT_NE(message.find("and 2 more rows like these in a.tsv\nb.tsv:2: "), std::string::npos) << message;
}

}  // namespace
}  // namespace encore::tsv
