// SPDX-License-Identifier: BSD-3-Clause
// Tests the survey of a whole file (survey/survey.hpp) with the readers that ship: classes, duplicates,
// conflicts, invalid rows, and leaks into a second file. The counts must be those of the records that a run
// would read.
#include "survey/survey.hpp"

#include <gtest/gtest.h>

#include "jsonl.hpp"
#include "plugin_host/default_options.hpp"
#include "tsv.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::survey {
namespace {

using testing::message_of;
using Names = std::vector<std::string>;

template <class R>
std::unique_ptr<Reader> made(const Options& options) {
  Options all = plugin_host::default_options(R::options());
  for (const auto& [name, value] : options.values()) all.set(name, value);
  return std::make_unique<R>(all, ReaderContext());
}

record::SurveyAnswer surveyed(record::SurveyRequest request, const std::string& text,
                              const std::string& test = "") {
  request.file = "tickets.csv";
  if (!test.empty()) request.test = "test.csv";
  const auto make_reader = [](const std::string& type, const Options& options) {
    return type == "jsonl" ? made<jsonl::JsonlReader>(options) : made<tsv::TsvReader>(options);
  };
  return survey(request, {.name = "tickets.csv", .text = text}, {.name = "test.csv", .text = test},
                make_reader, [](const std::string&, const std::string&, std::size_t, std::size_t) {});
}

std::string refusal(const record::SurveyRequest& request, const std::string& text,
                    const std::string& test = "") {
  return message_of<Error>([&] { surveyed(request, text, test); });
}

constexpr const char* tickets =
    "id,body,kind\n"
    "1,where is my parcel,delivery\n"
    "2,where is my parcel,delivery\n"
    "3,the parcel is late,delivery\n"
    "4,my invoice is wrong,billing\n"
    "5,my invoice is wrong,delivery\n"
    "6,a refund please,billing\n"
    "7,,billing\n";

TEST(Survey, CountsClassesDuplicatesConflictsAndInvalidRows) {
  const record::SurveyAnswer answer = surveyed({}, tickets);
  EXPECT_EQ(answer.reader, "tsv");
  EXPECT_EQ(answer.delimiter, ",");
  EXPECT_EQ(answer.text.name, "body");
  EXPECT_EQ(answer.label.name, "kind");
  ASSERT_TRUE(answer.found);
  EXPECT_EQ(answer.found->records, 6);
  EXPECT_EQ(answer.found->invalid, 1);
  EXPECT_TRUE(answer.found->first_invalid.ends_with("tickets.csv:8: the text in column 2 is empty"))
      << answer.found->first_invalid;
  ASSERT_EQ(answer.found->classes.size(), 2U);
  EXPECT_EQ(answer.found->classes[0].label, "delivery");
  EXPECT_EQ(answer.found->classes[0].records, 4);
  EXPECT_EQ(answer.found->duplicates, 1);
  ASSERT_EQ(answer.found->duplicate_examples.size(), 1U);
  EXPECT_EQ(answer.found->duplicate_examples[0].text, "where is my parcel");
  EXPECT_EQ(answer.found->conflicts, 1);
  ASSERT_EQ(answer.found->conflict_examples.size(), 1U);
  EXPECT_EQ(answer.found->conflict_examples[0].labels, (Names{"billing", "delivery"}));
  EXPECT_EQ(answer.found->long_words, 4.0);
}

TEST(Survey, FindsLeaksAndClassesThatAreOnlyInTheSecondFile) {
  const record::SurveyAnswer answer = surveyed({}, tickets,
                                               "kind,body\nbilling,my invoice is wrong\nrefund,one thing\n"
                                               "delivery,my parcel\nbilling,my invoice is wrong\n");
  ASSERT_TRUE(answer.test);
  EXPECT_EQ(answer.test->found.records, 4);
  EXPECT_EQ(answer.test->leaks, 2) << "the columns stand in another order there";
  ASSERT_EQ(answer.test->leak_examples.size(), 1U);
  EXPECT_EQ(answer.test->leak_examples[0].text, "my invoice is wrong");
  EXPECT_EQ(answer.test->unknown_classes, (Names{"refund"}));
  EXPECT_TRUE(refusal({}, tickets, "body,label\nx y,a\n")
                  .starts_with("test.csv: unknown column \"kind\" (as in tickets.csv)"));
}

TEST(Survey, ReadsKeysWithDots) {
  const record::SurveyAnswer answer =
      surveyed({.text = "fields.body", .label = "fields.kind"},
               "{\"fields\": {\"body\": \"my invoice\", \"kind\": \"billing\"}}\n"
               "{\"fields\": {\"body\": \"my parcel\", \"kind\": \"delivery\"}}\n");
  ASSERT_TRUE(answer.found);
  EXPECT_EQ(answer.reader, "jsonl");
  EXPECT_EQ(answer.found->records, 2);
}

TEST(Survey, NamesTheNearestColumn) {
  EXPECT_EQ(refusal({.text = "bdy"}, tickets),
            "tickets.csv: unknown column \"bdy\" (--text); did you mean \"body\"?");
  EXPECT_EQ(refusal({.label = "priority"}, tickets),
            "tickets.csv: unknown column \"priority\" (--label); the file has \"id\", \"body\", \"kind\"");
}

TEST(Survey, RefusesAFileWithManyInvalidRows) {
  EXPECT_TRUE(refusal({.text = "body", .label = "kind"}, "body,kind\nx y,a\n,b\n,c\nz u,a\n")
                  .starts_with("tickets.csv:3: the text in column 1 is empty\ntickets.csv:4:"));
}

TEST(Survey, GivesColumnsAloneWhereItCannotDecide) {
  const record::SurveyAnswer answer =
      surveyed({}, "body,one,two\nx y,a,c\nz u,a,d\nv w,a,c\nq r,b,d\ns t,b,c\nf g,b,d\n");
  EXPECT_FALSE(answer.found);
  EXPECT_EQ(answer.label.candidates, (Names{"one", "two"}));
  EXPECT_EQ(answer.columns.size(), 3U);
}

TEST(Survey, RefusesALabelWithTooManyValues) {
  std::string text = "body,kind\n";
  for (std::size_t i = 0; i <= most_classes; ++i) text += "some words,k" + std::to_string(i) + "\n";
  EXPECT_TRUE(refusal({.text = "body", .label = "kind"}, text).starts_with("the label has more than 10,000"));
}

}  // namespace
}  // namespace encore::survey
