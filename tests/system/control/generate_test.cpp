// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp generate` with the real worker (worker/generate_verb.cpp, infer/generator.hpp): text that grows
// on the screen, several outputs at once, JSON, and the rejected calls. days.hpp has the language model.
// Members of the JSON must stay, because programs read them.
#include <gtest/gtest.h>

#include <set>

#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "system/control/days.hpp"
#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

class Generate : public RealWorkerTest {
 protected:
  Generate() {
    write_days(sandbox_, "days");
    output_of({"run", "days.toml", "-q"});
  }
  std::string written(std::vector<std::string> options, const std::string& input = "") const {
    options.insert(options.begin(), {"generate", "days"});
    return output_of(options, input);
  }
  void expect_refused(std::vector<std::string> options, int exit_code, const std::string& message) const {
    options.insert(options.begin(), {"generate", "days"});
    const runner::ProgramOutput output = sandbox_.exp(options);
    EXPECT_EQ(output.end.exit_code, exit_code) << output.errors;
    EXPECT_NE(output.errors.find(message), std::string::npos) << output.errors;
  }
};

TEST_F(Generate, WritesWhatTheModelHasLearned) {
  EXPECT_EQ(written({"monday tues", "--max-tokens", "3"}), "day\n");
  EXPECT_EQ(written({"thurs", "--stop", " "}), "day\n");
  const std::string long_text = written({"monday", "--max-tokens", "60"});
  EXPECT_EQ(long_text.size(), 61U) << "longer than the model has positions";
  EXPECT_EQ(written({"--file", "-", "--max-tokens", "3"}, "mon\ntues\r\n"), "day\nday\n");
  sandbox_.write("prompts.txt", "wednes\nthurs\nfri\n");
  EXPECT_EQ(written({"--file", "prompts.txt", "--max-tokens", "3"}), "day\nday\nday\n");
}

TEST_F(Generate, TheSameRequestGivesTheSameText) {
  const std::vector<std::string> draw = {"mon", "--temperature", "1.5", "--seed", "4", "--max-tokens", "30"};
  const std::string text = written(draw);
  EXPECT_EQ(written(draw), text);
  std::vector<std::string> threads = draw;
  threads.insert(threads.end(), {"--threads", "1"});
  EXPECT_EQ(written(threads), text);
  std::set<std::string> texts;
  for (const char* seed : {"1", "2", "3", "4"})
    texts.insert(written({"mon", "--temperature", "1.5", "--seed", seed, "--max-tokens", "30"}));
  EXPECT_GT(texts.size(), 2U);
  const json together = json::parse(written(
      {"--file", "-", "--temperature", "1.5", "--seed", "4", "--max-tokens", "30", "--json"}, "fri\nmon\n"));
  EXPECT_EQ(together.at("prompts")[1].at("texts")[0].at("text").get<std::string>() + "\n", text);
}

TEST_F(Generate, GivesTheBestOfABeamAsJson) {
  const json answer =
      json::parse(written({"sun", "--beam", "4", "--texts", "3", "--max-tokens", "8", "--json"}));
  ASSERT_EQ(answer.at("prompts").size(), 1U);
  EXPECT_EQ(answer.at("prompts")[0].at("prompt"), "sun");
  const json& texts = answer.at("prompts")[0].at("texts");
  ASSERT_EQ(texts.size(), 3U);
  EXPECT_LE(texts[0].at("pieces").get<int>(), 8);
  EXPECT_TRUE(texts[0].at("text").get<std::string>().starts_with("day"));
  EXPECT_GE(texts[1].at("score").get<double>(), texts[2].at("score").get<double>());
}

TEST_F(Generate, RefusesWhatContradictsItself) {
  expect_refused({"mon", "--beam", "0"}, 2, "--beam is 0; it must be from 1 to 32");
  expect_refused({"mon", "--beam", "2", "--temperature", "1"}, 2, "give one of them");
  expect_refused({"mon", "--beam", "2", "--top-k", "5"}, 2, "--top-k = 5 limits draws");
  expect_refused({"mon", "--temperature", "0", "--top-p", "0.5"}, 2, "--top-p = 0.5 limits draws");
  expect_refused({"mon", "--texts", "5"}, 1, "--texts = 5 are more than a beam of 1 follows");
  expect_refused({"mon", "--seed", "1", "--beam", "2"}, 2, "--seed and --beam exclude each other");
  expect_refused({"mon", "--seed", "-1"}, 2, "invalid --seed -1: expected at least 0");
  expect_refused({"mon", "--file", "-"}, 2, "a prompt and --file exclude each other");
  expect_refused({"--file", "none.txt"}, 2, "none.txt");
}

TEST_F(Generate, RefusesAPromptThatDoesNotFit) {
  expect_refused({"monday tuesday wednesday thursday"}, 1,
                 "prompt 1 is longer than data.max_length = 16 of the model; shorten it");
  EXPECT_EQ(written({"monday tuesday ", "--max-tokens", "9"}).size(), 10U) << "as long as allowed";
  EXPECT_FALSE(written({"\xE2\x82\xAC mon", "--max-tokens", "3"}).empty()) << "tokens that are not known";
}

TEST_F(Generate, RefusesAModelWithoutGeneration) {
  output_of({"run", "tiny.toml", "-q"});
  const runner::ProgramOutput output = sandbox_.exp({"generate", "tiny", "in Oslo"});
  EXPECT_EQ(output.end.exit_code, 1);
  EXPECT_NE(output.errors.find("the model cannot generate: it has no causal stack"), std::string::npos)
      << output.errors;
}

TEST_F(RealWorkerTest, GenerateNeverWritesHalfACharacter) {
  write_letters(sandbox_, "letters");
  output_of({"run", "letters.toml", "-q"});
  const std::string replacement = "\uFFFD";
  std::string whole = output_of({"generate", "letters", "zoë", "--max-tokens", "40"});
  ASSERT_FALSE(find_invalid_utf8(whole));
  whole.pop_back();
  int cut = 0;
  for (int most = 1; most <= 40; ++most) {
    std::string text = output_of({"generate", "letters", "zoë", "--max-tokens", std::to_string(most)});
    EXPECT_FALSE(find_invalid_utf8(text)) << text;
    text.pop_back();
    const json answer = json::parse(
        output_of({"generate", "letters", "zoë", "--max-tokens", std::to_string(most), "--json"}));
    EXPECT_EQ(answer.at("prompts")[0].at("texts")[0].at("text"), text) << "the same text as JSON";
    if (text.ends_with(replacement)) {
      text.resize(text.size() - replacement.size());
      ++cut;
    }
    EXPECT_TRUE(whole.starts_with(text)) << text << "\n" << whole;
  }
  EXPECT_GT(cut, 0) << "some of them end within a character";
  EXPECT_EQ(output_of({"generate", "letters", "zoë", "--max-tokens", "40", "--stop", "日"}), " 😀 \n");
  EXPECT_EQ(output_of({"generate", "letters", "--file", "-", "--max-tokens", "3"}, "zoë\nzoë 😀 \n"),
            " \uFFFD\n日\n");
  const runner::ProgramOutput refused = sandbox_.exp({"generate", "letters", "zoë", "--stop", "\xAB"});
  EXPECT_EQ(refused.end.exit_code, 2);
  EXPECT_TRUE(contains(refused.errors, "invalid --stop: not UTF-8")) << refused.errors;
}

}  // namespace
}  // namespace encore::system_test
