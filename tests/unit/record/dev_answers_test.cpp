// SPDX-License-Identifier: BSD-3-Clause
// Tests the answers to the development set (record/dev_answers.hpp): what is read from the predictions of a
// model and of an application, and which fields name a class. Other fields may repeat an input, so a server
// must not store them.
#include "record/dev_answers.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>

#include "unit/record/temporary_folder.hpp"

namespace encore::record {
namespace {

using Values = std::vector<std::string>;

std::vector<DevAnswer> read(const testing::TemporaryFolder& folder, const std::string& text) {
  std::filesystem::create_directories(folder / "predictions");
  testing::write_bytes(folder / "predictions/dev.jsonl", text);
  return read_dev_answers(folder / dev_answers_file);
}

TEST(DevAnswers, AreThoseOfAModelOrOfAnApplication) {
  const testing::TemporaryFolder folder;
  EXPECT_TRUE(read_dev_answers(folder / dev_answers_file).empty()) << "there is no file";
  const std::vector<DevAnswer> answers =
      read(folder,
           "{\"example\": 0, \"truth\": \"a\", \"predicted\": \"b\"}\n"
           "{\"predicted\": [\"a\", \"b\"]}\n"
           "{\"predicted\": [{\"type\": \"PLACE\", \"text\": \"Oslo\", \"start\": 0, \"end\": 4}]}\n"
           "{\"predicted\": {\"decide.band\": \"review\", \"decide.confidence\": 0.5, \"more\": [\"x\"]}}\n"
           "{\"predicted\": null}\n");
  ASSERT_EQ(answers.size(), 5U);
  EXPECT_EQ(answers[0].at("label"), Values{"b"});
  EXPECT_EQ(answers[1].at("label"), (Values{"a", "b"}));
  EXPECT_EQ(answers[2].at("label"), Values{"PLACE"});
  EXPECT_EQ(answers[3], (DevAnswer{{"decide.band", {"review"}}, {"more", {"x"}}}));
  EXPECT_EQ(answers[4].at("label"), Values{});
}

TEST(DevAnswers, ADamagedLineIsNamed) {
  const testing::TemporaryFolder folder;
  const std::string why =
      testing::message_of<Error>([&] { read(folder, "{\"predicted\": \"b\"}\n{\"truth\": \"a\"}\n"); });
  EXPECT_NE(why.find("dev.jsonl:2: \"predicted\" is missing"), std::string::npos) << why;
}

TEST(DevAnswers, OnlyFieldsWithFewValuesNameAClass) {
  std::vector<DevAnswer> answers;
  for (int i = 0; i < 40; ++i)
    answers.push_back({{"decide.band", {i % 2 == 0 ? "answer" : "review"}},
                       {"note", {"text of request " + std::to_string(i)}},
                       {"some", {std::to_string(i % 25)}}});
  const auto classes = classes_in(answers);
  ASSERT_EQ(classes.size(), 1U) << "25 values in 40 answers are not classes either";
  EXPECT_EQ(classes.at("decide.band"), (std::set<std::string>{"answer", "review"}));
}

}  // namespace
}  // namespace encore::record
