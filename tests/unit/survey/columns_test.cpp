// SPDX-License-Identifier: BSD-3-Clause
// Tests what is recognized in a user's file before a reader is chosen: its form (survey/file_form.hpp) and
// the facts about its columns (survey/columns.hpp). `exp app new` proposes an experiment by them, so a wrong
// fact would lead to a wrong proposal. The numbers are counted by hand.
#include "survey/columns.hpp"

#include <gtest/gtest.h>

#include <string>

#include "unit/record/temporary_folder.hpp"

namespace encore::survey {
namespace {

using testing::message_of;

SurveyedColumns columns(const std::string& text, bool header = true,
                        const std::string& name = "tickets.csv") {
  const InputText file{.name = name, .text = text};
  return columns_of(file, form_of(file, header));
}

std::string refusal(const std::string& text) {
  return message_of<Error>([&] { columns(text); });
}

FileForm form(const std::string& text) {
  return form_of({.name = "tickets.csv", .text = text}, true);
}

TEST(FileForm, FindsTheDelimiterThatSeparatesAllRows) {
  EXPECT_EQ(form("text,label\n\"one, two\",a\nthree,b\n").delimiter, ',');
  EXPECT_EQ(form("text;label\nthe price is 1,50;a\nno, not that;b\n").delimiter, ';');
  EXPECT_EQ(form("text\tlabel\nwell, no\ta\nyes, yes, yes\tb\n").delimiter, '\t');
  EXPECT_EQ(form("text|label\nx|a\n").delimiter_text(), "|");
  EXPECT_EQ(form("\xEF\xBB\xBFtext,label\r\n\"two\r\nlines\",a\r\n").delimiter, ',');
  EXPECT_TRUE(form("\n {\"text\": \"x, y\"}\n").is_json);
  EXPECT_STREQ(form("{\"a\": 1}").reader(), "jsonl");
}

TEST(FileForm, RefusesWhatIsNotAListOfRecords) {
  EXPECT_TRUE(refusal("").starts_with("tickets.csv: the file is empty: expected a line with"));
  EXPECT_TRUE(refusal("\xEF\xBB\xBF \r\n\n").starts_with("tickets.csv: the file is empty"));
  EXPECT_EQ(
      refusal("only one column\nand a row\n"),
      "tickets.csv:1: the first line has one column: \"only one column\"; expected columns with a tab or "
      "one of , ; | between them");
  const InputText array{.name = "tickets.json", .text = "[\n{\"a\": 1}\n]\n"};
  EXPECT_TRUE(message_of<Error>([&] {
                form_of(array, true);
              }).starts_with("tickets.json:1: the file is a JSON array"));
}

TEST(Columns, CountsValuesWordsAndEmptyPlaces) {
  const SurveyedColumns found = columns(
      "id,body,kind,made\r\n"
      "1,\"no parcel\r\nfor \"\"Anna\"\"\",delivery,2026-01-31\r\n"
      "2,my invoice,billing,2026-02-01\r\n"
      "3,,billing,2026-02-02\r\n");
  EXPECT_EQ(found.rows, 3);
  ASSERT_EQ(found.columns.size(), 4U);
  const record::SurveyedColumn &id = found.columns[0], &body = found.columns[1], &kind = found.columns[2];
  EXPECT_EQ(body.name, "body");
  EXPECT_EQ(body.filled, 2);
  EXPECT_EQ(body.empty, 1);
  EXPECT_EQ(body.values, 2);
  EXPECT_EQ(body.words, 3.0) << "4 and 2 words";
  EXPECT_EQ(body.characters, 15.5) << "21 and 10 characters";
  EXPECT_EQ(kind.values, 2);
  EXPECT_EQ(kind.rarest, 1);
  EXPECT_EQ(id.numbers, 1.0);
  EXPECT_EQ(found.columns[3].dates, 1.0);
  EXPECT_EQ(found.columns[3].numbers, 0.0);
}

TEST(Columns, StopsCountingValuesAtTheLimit) {
  std::string text = "id,kind\n";
  for (std::size_t i = 0; i <= most_values; ++i) text += "n" + std::to_string(i) + ",a\n";
  const SurveyedColumns found = columns(text);
  EXPECT_FALSE(found.columns[0].values) << "one more than the limit";
  EXPECT_EQ(found.columns[0].filled, static_cast<std::int64_t>(most_values) + 1);
  EXPECT_EQ(found.columns[1].values, 1);
}

TEST(Columns, NamesAColumnAsTheReaderDoes) {
  const SurveyedColumns found = columns("2024,,twice,twice,kind\nx,y,z,u,a\n");
  std::vector<std::string> names;
  for (const record::SurveyedColumn& column : found.columns) names.push_back(column.name);
  EXPECT_EQ(names, (std::vector<std::string>{"1", "2", "3", "4", "kind"}))
      << "a heading that the options of the reader cannot name becomes a number";
  EXPECT_EQ(columns("where is it,a\nand this,a\n", false).columns[1].name, "2");
  EXPECT_EQ(columns("where is it,a\nand this,a\n", false).rows, 2);
}

TEST(Columns, FollowsKeysIntoObjects) {
  const SurveyedColumns found = columns(
      "{\"fields\": {\"body\": \"no parcel\", \"kind\": {\"name\": \"delivery\"}}, \"tags\": [1, 2]}\n"
      "{\"fields\": {\"body\": \"my invoice\", \"urgent\": true}, \"id\": null}\n");
  std::vector<std::string> names;
  for (const record::SurveyedColumn& column : found.columns) names.push_back(column.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"fields.body", "fields.kind.name", "tags", "fields.urgent", "id"}));
  EXPECT_EQ(found.columns[1].empty, 1);
  EXPECT_EQ(found.columns[2].others, 1.0);
}

TEST(Columns, RefusesAFirstLineThatIsARecord) {
  const std::string reason = "tickets.csv:1: the first line does not name the columns: ";
  EXPECT_TRUE(refusal("no parcel yet,delivery\nmy invoice,billing\nthe courier,delivery\na refund,billing\n")
                  .starts_with(reason + "\"delivery\" is also a value of its column"));
  EXPECT_TRUE(
      refusal("17,no parcel\n18,my invoice\n").starts_with(reason + "\"17\" is a value like those below it"));
  EXPECT_TRUE(refusal(std::string(101, 'x') + ",label\na,b\n").find("is too long for a name") !=
              std::string::npos);
  EXPECT_TRUE(refusal("text,label\n").ends_with("no row: expected a row for each record"));
  EXPECT_EQ(columns("text,label\nx y,a\ntext,label\nz u,b\n").rows, 2)
      << "a repeated heading is not a record";
}

}  // namespace
}  // namespace encore::survey
