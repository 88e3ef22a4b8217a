// SPDX-License-Identifier: BSD-3-Clause
// Tests CheckRequest (record/check_request.hpp), the specifications that `encore-worker check` reads: they
// come back as they were sent, and runs may share a request only if their options agree.
#include "record/check_request.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

namespace encore::record {
namespace {

Specification specification(int width, double rate) {
  Specification result;
  result.config = {{"task", {{"type", "ner"}}},
                   {"data", {{"max_length", 8}}},
                   {"tokenizer", {{"type", "word"}}},
                   {"model", {{"width", width}}},
                   {"optimizer", {{"type", "adam"}, {"learning_rate", rate}}},
                   {"schedule", {{"type", "constant"}}},
                   {"train", {{"epochs", 1}}}};
  result.data["train"] = {"train.conll", "0a"};
  result.plugin_folders = {"plugins"};
  return result;
}

TEST(CheckRequest, ComesBackAsItWasSent) {
  const Specification first = specification(8, 0.1), second = specification(16, 0.1);
  CheckRequest sent;
  EXPECT_TRUE(sent.add(first));
  EXPECT_TRUE(sent.add(second));
  const CheckRequest got = CheckRequest::parse(sent.text());
  ASSERT_EQ(got.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const Specification found = got.specification(got.run(i));
    const Specification& wanted = i == 0 ? first : second;
    EXPECT_EQ(found.config, wanted.config);
    EXPECT_EQ(found.data.at("train").path, "train.conll");
    EXPECT_EQ(found.data.at("train").sha256, "0a");
    EXPECT_EQ(found.plugin_folders, wanted.plugin_folders);
  }
}

TEST(CheckRequest, AsksOnceForWhatRunsShare) {
  CheckRequest request;
  EXPECT_TRUE(request.add(specification(8, 0.1)));
  EXPECT_FALSE(request.add(specification(8, 0.1)));
  EXPECT_TRUE(request.add(specification(8, 0.2)));
  EXPECT_TRUE(request.add(specification(16, 0.1)));
  EXPECT_FALSE(request.add(specification(16, 0.2))) << "width and rate are both in it";
  EXPECT_EQ(request.size(), 3u);
}

/// Two ways to set one thing are rejected only if both were given, so requests also compare what was given.
TEST(CheckRequest, AsksAgainWhereAnotherOptionWasGiven) {
  Specification left_out = specification(8, 0.1), given = specification(8, 0.1);
  left_out.origin["schedule.type"] = given.origin["schedule.type"] = {config::Source::file, {"a.toml", 3, 1}};
  left_out.origin["schedule.warmup_steps"] = {config::Source::fallback, {"a.toml", 2, 1}};
  given.origin["schedule.warmup_steps"] = {config::Source::sweep, {"a.toml", 9, 1}};
  CheckRequest sent;
  EXPECT_TRUE(sent.add(left_out));
  EXPECT_TRUE(sent.add(given));
  EXPECT_FALSE(sent.add(left_out));
  const CheckRequest got = CheckRequest::parse(sent.text());
  const config::Origins first = got.specification(got.run(0)).origin;
  ASSERT_EQ(first.size(), 1U) << "all others count as given";
  EXPECT_EQ(first.at("schedule.warmup_steps").source, config::Source::fallback);
  EXPECT_TRUE(got.specification(got.run(1)).origin.empty());
  EXPECT_NE(got.run(0).table("schedule"), got.run(1).table("schedule"));
  EXPECT_EQ(got.run(0).table("model"), got.run(1).table("model"));
}

TEST(CheckRequest, RejectsAnInvalidRequest) {
  for (const char* text : {"", "[]", "{}", R"({"parts": [], "runs": [{}]})"}) {
    try {
      CheckRequest::parse(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("the request on standard input cannot be read"),
                std::string::npos);
    }
  }
}

}  // namespace
}  // namespace encore::record
