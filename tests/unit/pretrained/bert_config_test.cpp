// config.json as options of [model], what is refused of it, and the way back.
#include "pretrained/bert_config.hpp"

#include <gtest/gtest.h>

#include <map>

#include "unit/pretrained/tiny_folder.hpp"

namespace encore {
namespace {

using testing::TinyFolder;

std::string problem(const nlohmann::json& config) {
  return testing::message_of<Error>([&] { bert_config_from_json(config); });
}

nlohmann::json with(const char* member, nlohmann::json value) {
  nlohmann::json config = TinyFolder::config();
  config[member] = std::move(value);
  return config;
}

/// "model.width" -> "8"
std::map<std::string, std::string> options(const BertConfig& config) {
  std::map<std::string, std::string> texts;
  for (const ImpliedOption& option : implied_options(config)) {
    std::string key;
    for (const std::string& part : option.path) key += (key.empty() ? "" : ".") + part;
    texts[key] = to_text(option.value);
  }
  return texts;
}

TEST(BertConfig, GivesTheOptionsOfABert) {
  const std::map<std::string, std::string> expected = {{"model.width", "8"},
                                                       {"model.layers", "2"},
                                                       {"model.block", "[attention, feed_forward]"},
                                                       {"model.positions", "learned"},
                                                       {"model.max_positions", "32"},
                                                       {"model.segments", "2"},
                                                       {"model.embedding_norm", "true"},
                                                       {"model.embedding_scale", "none"},
                                                       {"model.norm", "norm"},
                                                       {"model.norm_position", "post"},
                                                       {"model.final_norm", "false"},
                                                       {"model.embedding_width", "0"},
                                                       {"model.groups", "0"},
                                                       {"model.causal", "false"},
                                                       {"model.dropout", "0.1"},
                                                       {"model.layer.attention.type", "self_attention"},
                                                       {"model.layer.attention.heads", "4"},
                                                       {"model.layer.attention.attention_dropout", "0.2"},
                                                       {"model.layer.feed_forward.type", "feed_forward"},
                                                       {"model.layer.feed_forward.hidden", "16"},
                                                       {"model.layer.feed_forward.activation", "gelu"},
                                                       {"model.layer.norm.type", "layer_norm"},
                                                       {"model.layer.norm.epsilon", "1e-12"}};
  EXPECT_EQ(options(bert_config_from_json(TinyFolder::config())), expected);
}

TEST(BertConfig, GivesTheOptionsOfADistilBert) {
  std::map<std::string, std::string> expected = options(bert_config_from_json(TinyFolder::config()));
  expected["model.segments"] = "0";
  expected["model.layer.feed_forward.activation"] = "relu";
  EXPECT_EQ(options(bert_config_from_json(TinyFolder::distilbert_config())), expected);
}

TEST(BertConfig, IsWrittenAsItWasRead) {
  for (const nlohmann::json& config : {TinyFolder::config(), TinyFolder::distilbert_config()}) {
    nlohmann::json expected = config;
    expected.erase("architectures");
    expected.erase("position_embedding_type");
    EXPECT_EQ(bert_config_to_json(bert_config_from_json(config)), expected);
  }
}

TEST(BertConfig, LeavesWhatIsSilentToTheDefaultsOfTransformers) {
  nlohmann::json config = TinyFolder::config();
  for (const char* member :
       {"hidden_act", "layer_norm_eps", "hidden_dropout_prob", "position_embedding_type"})
    config.erase(member);
  const auto given = options(bert_config_from_json(config));
  EXPECT_EQ(given.at("model.layer.feed_forward.activation"), "gelu");
  EXPECT_EQ(given.at("model.layer.norm.epsilon"), "1e-12");
  EXPECT_EQ(given.at("model.dropout"), "0.1");
}

TEST(BertConfig, RefusesOtherArchitecturesByName) {
  nlohmann::json gpt = with("model_type", "gpt2");
  gpt["architectures"] = {"GPT2LMHeadModel"};
  EXPECT_EQ(
      problem(gpt),
      "model_type is \"gpt2\" (GPT2LMHeadModel), which is another architecture; supported are \"bert\" and "
      "\"distilbert\"");
  EXPECT_EQ(
      problem(with("model_type", "xlm-roberta")),
      "model_type is \"xlm-roberta\" (BertModel), whose byte-level pieces and whose positions from 2 on are "
      "not supported; supported are \"bert\" and \"distilbert\"");
  nlohmann::json none = TinyFolder::config();
  none.erase("model_type");
  EXPECT_EQ(problem(none), "\"model_type\" is missing; supported are \"bert\" and \"distilbert\"");
  EXPECT_EQ(problem(nlohmann::json::array()), "a JSON object is expected");
}

TEST(BertConfig, RefusesFunctionsThatItCannotCompute) {
  EXPECT_EQ(
      problem(with("hidden_act", "gelu_new")),
      "hidden_act is \"gelu_new\", which is not supported; supported are \"gelu\" (with the exact erf) and "
      "\"relu\"");
  EXPECT_EQ(problem(with("position_embedding_type", "relative_key")),
            "position_embedding_type is \"relative_key\", which is not supported; supported is \"absolute\"");
  EXPECT_EQ(problem(with("is_decoder", true)), "is_decoder is true, but only encoders are supported");
  EXPECT_EQ(problem(with("quantization_config", {{"bits", 4}})),
            "quantization_config is set: the weights are quantized; save the model in float32 or float16");
  EXPECT_EQ(problem(with("pruned_heads", {{"0", {1}}})),
            "pruned_heads is not empty, and layers with fewer heads than others are not supported");
}

TEST(BertConfig, RefusesNumbersThatAreNone) {
  EXPECT_EQ(problem(with("hidden_size", "wide")), "hidden_size must be an integer, found \"wide\"");
  EXPECT_EQ(problem(with("hidden_size", 8.5)), "hidden_size must be an integer, found 8.5");
  EXPECT_EQ(problem(with("num_hidden_layers", 0)), "num_hidden_layers must be at least 1, found 0");
  EXPECT_EQ(problem(with("hidden_dropout_prob", true)), "hidden_dropout_prob must be a number, found true");
  nlohmann::json without = TinyFolder::config();
  without.erase("intermediate_size");
  EXPECT_EQ(problem(without), "\"intermediate_size\" is missing");
}

}  // namespace
}  // namespace encore
