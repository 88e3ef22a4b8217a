// SPDX-License-Identifier: BSD-3-Clause
// Tests AttentionRequest and AttentionTexts (record/attention.hpp), the request and the answer of `exp
// attention` between control program and worker: numbers are transmitted to the last bit, a word selects
// layers, and invalid answers are rejected. Runs store the answer, so members keep their names.
#include "record/attention.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "unit/record/temporary_folder.hpp"

namespace encore::record {
namespace {

using testing::message_of;

AttentionTexts sample() {
  AttentionText text{.name = "part 1 of 2",
                     .tokens = {{"[CLS]", true}, {"na\xC3\xAFve"}, {"[SEP]", true}},
                     .target = {{"<s>", true}, {"\xE2\x96\x81two"}}};
  text.layers = {{.layer = "encoder.0.attention",
                  .type = "self_attention",
                  .heads = {0, 3},
                  .weights = {{1, 0, 0, 0.25F, 0.25F, 0.5F, 0.1F, 0.2F, 0.7F},
                              {0.3F, 0.3F, 0.4F, 1e-20F, 1, 0, 1.0F / 3.0F, 1.0F / 3.0F, 1.0F / 3.0F}}},
                 {.layer = "decoder.0.cross",
                  .type = "cross_attention",
                  .rows_of_decoder = true,
                  .columns_of_decoder = false,
                  .heads = {1},
                  .weights = {{0.5F, 0.25F, 0.25F, 0, 0, 1}}}};
  text.hidden = {{"encoder.1.attention", "linear_attention"}};
  return {.step = 120, .written = "zwei", .forced = true, .texts = {text, {.tokens = {{"a"}}}}};
}

TEST(AttentionWeights, AreTransmittedToTheLastBit) {
  const AttentionTexts sent = sample(), read = AttentionTexts::parse(sent.json());
  EXPECT_EQ(read.step, 120);
  EXPECT_EQ(read.written, "zwei");
  EXPECT_TRUE(read.forced);
  ASSERT_EQ(read.texts.size(), 2U);
  const AttentionText &before = sent.texts[0], &after = read.texts[0];
  EXPECT_EQ(after.name, before.name);
  ASSERT_EQ(after.tokens.size(), 3U);
  EXPECT_EQ(after.tokens[1].text, before.tokens[1].text);
  EXPECT_TRUE(after.tokens[2].special);
  EXPECT_FALSE(after.target[1].special);
  ASSERT_EQ(after.layers.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(after.layers[i].layer, before.layers[i].layer);
    EXPECT_EQ(after.layers[i].heads, before.layers[i].heads);
    EXPECT_EQ(after.layers[i].weights, before.layers[i].weights);
    EXPECT_EQ(after.layers[i].rows_of_decoder, before.layers[i].rows_of_decoder);
    EXPECT_EQ(after.layers[i].columns_of_decoder, before.layers[i].columns_of_decoder);
  }
  EXPECT_EQ(after.hidden, before.hidden);
  EXPECT_EQ(&after.rows(after.layers[1]), &after.target);
  EXPECT_EQ(&after.columns(after.layers[1]), &after.tokens);
  EXPECT_EQ(read.json(), sent.json());
}

TEST(AttentionWeights, RefuseAnswersThatDoNotFit) {
  for (const char* text : {"", "[]", "{}", R"({"step": 1, "texts": [{"tokens": []}]})"})
    EXPECT_TRUE(
        message_of<Error>([&] { AttentionTexts::parse(text); }).starts_with("invalid attention weights: "))
        << text;
  const auto changed = [](const char* place, const nlohmann::json& value) {
    nlohmann::json json = nlohmann::json::parse(sample().json());
    json[nlohmann::json::json_pointer(place)] = value;
    return message_of<Error>([&] { AttentionTexts::parse(json.dump()); });
  };
  const nlohmann::json short_row = {0.5, 0.5};
  EXPECT_EQ(changed("/texts/0/layers/0/heads/0/weights/1", short_row),
            "invalid attention weights: a row of encoder.0.attention has another length");
  const nlohmann::json one_row = {{0.5, 0.25, 0.25}};
  EXPECT_EQ(changed("/texts/0/layers/1/heads/0/weights", one_row),
            "invalid attention weights: the weights of decoder.0.cross do not fit its tokens");
  EXPECT_EQ(changed("/step", 7), "no error") << "the sample is fine otherwise";
}

TEST(AttentionRequest, Crosses) {
  const AttentionRequest sent = {
      .text = "a\tb \xC3\xA4", .target = "c", .choice = {.layers = {"0", "decoder"}, .heads = {2}}};
  const AttentionRequest read = AttentionRequest::parse(sent.json());
  EXPECT_EQ(read.text, sent.text);
  EXPECT_EQ(read.target, sent.target);
  EXPECT_EQ(read.choice.layers, sent.choice.layers);
  EXPECT_EQ(read.choice.heads, sent.choice.heads);
  EXPECT_FALSE(AttentionRequest::parse(AttentionRequest{.text = "a"}.json()).target);
  EXPECT_TRUE(message_of<Error>([] {
                AttentionRequest::parse("{}");
              }).starts_with("attention: the request on standard input cannot be read: "));
}

TEST(AttentionChoice, SelectsBlocksAndBeginningsOfPaths) {
  const auto means = [](const std::string& word) {
    return AttentionChoice{.layers = {word}}.means("decoder.1.cross", 1);
  };
  for (const char* word : {"1", "decoder", "decoder.1", "decoder.1.cross"}) EXPECT_TRUE(means(word)) << word;
  for (const char* word : {"0", "decod", "decoder.1.cro", "cross", "encoder", "11"})
    EXPECT_FALSE(means(word)) << word;
  EXPECT_TRUE(AttentionChoice{}.means("anything", 7));
}

}  // namespace
}  // namespace encore::record
