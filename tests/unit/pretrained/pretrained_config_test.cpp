// SPDX-License-Identifier: BSD-3-Clause
// Tests pretrained_config_from_json() and pretrained_config_to_json() (pretrained/pretrained_config.hpp):
// config.json of each family as options of [model], files that are rejected because Encore cannot compute
// what they ask for, and writing config.json as it was read. Plans of [model] from = "DIR" and `exp export`
// use them. The implied options must compute what transformers computes, so an expected value changes only
// with it. Words of a problem may change; a new family is a new test.
#include "pretrained/pretrained_config.hpp"

#include <gtest/gtest.h>

#include <map>

#include "unit/pretrained/tiny_folder.hpp"

namespace encore::pretrained {
namespace {

using testing::TinyFolder;

std::string config_problem(const nlohmann::json& config) {
  return testing::message_of<Error>([&] { pretrained_config_from_json(config); });
}

nlohmann::json with(const char* member, nlohmann::json value) {
  nlohmann::json config = TinyFolder::config();
  config[member] = std::move(value);
  return config;
}

/// Returns the implied options as text, such as "model.width" -> "8".
std::map<std::string, std::string> options(const PretrainedConfig& config) {
  std::map<std::string, std::string> values;
  for (const ImpliedOption& option : implied_options(config)) {
    std::string key;
    for (const std::string& part : option.path) key += (key.empty() ? "" : ".") + part;
    values[key] = config::to_text(option.value);
  }
  return values;
}

TEST(PretrainedConfig, GivesTheOptionsOfABert) {
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
                                                       {"model.layer.attention.bias", "true"},
                                                       {"model.layer.attention.scaled", "true"},
                                                       {"model.layer.feed_forward.bias", "true"},
                                                       {"model.layer.feed_forward.type", "feed_forward"},
                                                       {"model.layer.feed_forward.hidden", "16"},
                                                       {"model.layer.feed_forward.activation", "gelu"},
                                                       {"model.layer.norm.type", "layer_norm"},
                                                       {"model.layer.norm.epsilon", "1e-12"}};
  EXPECT_EQ(options(pretrained_config_from_json(TinyFolder::config())), expected);
}

TEST(PretrainedConfig, GivesTheOptionsOfADistilBert) {
  std::map<std::string, std::string> expected = options(pretrained_config_from_json(TinyFolder::config()));
  expected["model.segments"] = "0";
  expected["model.layer.feed_forward.activation"] = "relu";
  EXPECT_EQ(options(pretrained_config_from_json(TinyFolder::distilbert_config())), expected);
}

TEST(PretrainedConfig, GivesTheOptionsOfARoberta) {
  std::map<std::string, std::string> expected = options(pretrained_config_from_json(TinyFolder::config()));
  expected["model.segments"] = "1";
  expected["model.max_positions"] = "30";
  expected["model.layer.norm.epsilon"] = "1e-5";
  const PretrainedConfig config = pretrained_config_from_json(TinyFolder::roberta_config());
  EXPECT_EQ(options(config), expected);
  EXPECT_EQ(config.first_position, 2);
  for (const ImpliedOption& option : implied_options(config)) {
    if (option.path.back() == "max_positions") {
      EXPECT_EQ(option.reason, "max_position_embeddings = 32");
    }
  }
}

TEST(PretrainedConfig, GivesTheOptionsOfAGpt2) {
  std::map<std::string, std::string> expected = options(pretrained_config_from_json(TinyFolder::config()));
  expected["model.segments"] = "0";
  expected["model.embedding_norm"] = "false";
  expected["model.norm_position"] = "pre";
  expected["model.final_norm"] = "true";
  expected["model.causal"] = "true";
  expected["model.layer.feed_forward.activation"] = "gelu_tanh";
  expected["model.layer.norm.epsilon"] = "1e-5";
  EXPECT_EQ(options(pretrained_config_from_json(TinyFolder::gpt2_config())), expected);
  nlohmann::json config = TinyFolder::gpt2_config();
  for (const char* member : {"activation_function", "layer_norm_epsilon"}) config.erase(member);
  config["n_inner"] = nullptr;
  expected["model.layer.feed_forward.hidden"] = "32";
  EXPECT_EQ(options(pretrained_config_from_json(config)), expected);
}

TEST(PretrainedConfig, RejectsAGpt2ThatComputesDifferently) {
  const auto said = [](const char* member, bool value) {
    nlohmann::json config = TinyFolder::gpt2_config();
    config[member] = value;
    return config_problem(config);
  };
  EXPECT_EQ(said("reorder_and_upcast_attn", true), "reorder_and_upcast_attn is true, which is not supported");
  EXPECT_EQ(said("scale_attn_by_inverse_layer_idx", true),
            "scale_attn_by_inverse_layer_idx is true, which is not supported");
  EXPECT_EQ(said("scale_attn_weights", false), "scale_attn_weights is false, which is not supported");
  EXPECT_EQ(said("tie_word_embeddings", false), "tie_word_embeddings is false, which is not supported");
}

TEST(PretrainedConfig, OfABartHasTwoStacksAndMarkers) {
  nlohmann::json config = TinyFolder::bart_config();
  const PretrainedConfig bart = pretrained_config_from_json(config);
  EXPECT_EQ(bart.first_position, 2);
  EXPECT_EQ(bart.max_positions, 32) << "without the 2 rows in front of the first position";
  std::map<std::string, std::string> implied = options(bart);
  const std::map<std::string, std::string> own = {{"model.layers", "2"},
                                                  {"model.decoder.layers", "3"},
                                                  {"model.layer.cross.heads", "4"},
                                                  {"task.source_start", "true"},
                                                  {"task.target_start", "end"},
                                                  {"task.target_begins", "true"},
                                                  {"model.layer.norm.epsilon", "1e-5"},
                                                  {"model.embedding_scale", "none"}};
  for (const auto& [path, value] : own) EXPECT_EQ(implied[path], value) << path;
  config["scale_embedding"] = true;
  config["decoder_start_token_id"] = 0;
  implied = options(pretrained_config_from_json(config));
  EXPECT_EQ(implied["model.embedding_scale"], "sqrt_width");
  EXPECT_EQ(implied["task.target_start"], "padding");
}

TEST(PretrainedConfig, OfAMarianHasSinesBeforeCosines) {
  const PretrainedConfig marian = pretrained_config_from_json(TinyFolder::marian_config());
  std::map<std::string, std::string> implied = options(marian);
  const std::map<std::string, std::string> own = {{"model.positions", "sinusoidal"},
                                                  {"model.position_layout", "halves"},
                                                  {"model.layer.feed_forward.activation", "silu"},
                                                  {"model.embedding_scale", "sqrt_width"},
                                                  {"model.embedding_norm", "false"},
                                                  {"model.norm_position", "post"},
                                                  {"task.source_start", "false"},
                                                  {"task.target_start", "padding"},
                                                  {"task.target_begins", "false"}};
  for (const auto& [path, value] : own) EXPECT_EQ(implied[path], value) << path;
  EXPECT_FALSE(implied.contains("model.max_positions"));
  EXPECT_EQ(marian.max_positions, 32);
}

TEST(PretrainedConfig, RejectsAMarianThatComputesDifferently) {
  const auto said = [](const char* member, const nlohmann::json& value) {
    nlohmann::json config = TinyFolder::marian_config();
    config[member] = value;
    return config_problem(config);
  };
  for (const char* member : {"normalize_before", "normalize_embedding", "add_final_layer_norm"})
    EXPECT_EQ(said(member, true), std::string(member) + " is true, which is not supported");
  for (const char* member : {"is_encoder_decoder", "tie_word_embeddings", "share_encoder_decoder_embeddings",
                             "static_position_embeddings"})
    EXPECT_EQ(said(member, false), std::string(member) + " is false, which is not supported");
  EXPECT_EQ(said("decoder_vocab_size", 7),
            "vocab_size and decoder_vocab_size differ, which is not supported");
}

TEST(PretrainedConfig, OfAT5HasDistancesAndNoBiases) {
  nlohmann::json config = TinyFolder::t5_config();
  std::map<std::string, std::string> implied = options(pretrained_config_from_json(config));
  const std::map<std::string, std::string> first = {{"model.layers", "2"},
                                                    {"model.decoder.layers", "3"},
                                                    {"model.positions", "none"},
                                                    {"model.norm_position", "pre"},
                                                    {"model.embedding_scale", "none"},
                                                    {"model.layer.norm.type", "rms_norm"},
                                                    {"model.layer.norm.epsilon", "1e-6"},
                                                    {"model.layer.attention.type", "relative_attention"},
                                                    {"model.layer.attention.head_size", "3"},
                                                    {"model.layer.attention.buckets", "16"},
                                                    {"model.layer.attention.max_distance", "40"},
                                                    {"model.layer.attention.bias", "false"},
                                                    {"model.layer.attention.scaled", "false"},
                                                    {"model.layer.cross.head_size", "3"},
                                                    {"model.layer.cross.bias", "false"},
                                                    {"model.layer.cross.scaled", "false"},
                                                    {"model.layer.feed_forward.type", "feed_forward"},
                                                    {"model.layer.feed_forward.activation", "relu"},
                                                    {"model.layer.feed_forward.bias", "false"},
                                                    {"model.head.transform", "false"},
                                                    {"model.head.bias", "false"},
                                                    {"model.head.tied", "true"},
                                                    {"model.head.scaled", "true"},
                                                    {"model.dropout", "0.1"},
                                                    {"model.layer.attention.attention_dropout", "0.1"},
                                                    {"task.source_start", "false"},
                                                    {"task.target_start", "padding"},
                                                    {"task.target_begins", "false"}};
  for (const auto& [path, value] : first) EXPECT_EQ(implied[path], value) << path;
  EXPECT_FALSE(implied.contains("model.max_positions"));
  config["feed_forward_proj"] = "gated-gelu";
  config["tie_word_embeddings"] = false;
  config.erase("scale_decoder_outputs");  // as before version 5
  PretrainedConfig gated = pretrained_config_from_json(config);
  gated.tied =
      false;  // the tensors of the folder decide this, and not config.json: see pretrained_config.hpp
  implied = options(gated);
  EXPECT_EQ(implied["model.layer.feed_forward.type"], "gated_feed_forward");
  EXPECT_EQ(implied["model.layer.feed_forward.activation"], "geglu_tanh");
  EXPECT_EQ(implied["model.head.tied"], "false");
  EXPECT_EQ(implied["model.head.scaled"], "false");
}

/// The values that T5Config of `transformers` takes for missing members, and "scale_decoder_outputs", which
/// version 5 writes and version 4 does not.
TEST(PretrainedConfig, OfAT5TakesWhatItsClassTakesForGranted) {
  nlohmann::json config = TinyFolder::t5_config();
  for (const char* member : {"num_decoder_layers", "relative_attention_num_buckets",
                             "relative_attention_max_distance", "feed_forward_proj", "layer_norm_epsilon",
                             "n_positions", "scale_decoder_outputs", "tie_word_embeddings"})
    config.erase(member);
  const PretrainedConfig t5 = pretrained_config_from_json(config);
  EXPECT_EQ(t5.decoder_layers, 2);
  EXPECT_EQ(t5.buckets, 32);
  EXPECT_EQ(t5.max_distance, 128);
  EXPECT_EQ(t5.max_positions, 512);
  EXPECT_EQ(t5.activation, "relu");
  EXPECT_EQ(t5.epsilon, 1e-6);
  EXPECT_TRUE(t5.scaled_states);
  config["tie_word_embeddings"] = true;
  config["scale_decoder_outputs"] = false;  // version 5
  EXPECT_FALSE(pretrained_config_from_json(config).scaled_states);
}

TEST(PretrainedConfig, RejectsAT5ThatComputesDifferently) {
  const auto said = [](const char* member, const nlohmann::json& value) {
    nlohmann::json config = TinyFolder::t5_config();
    config[member] = value;
    return config_problem(config);
  };
  EXPECT_EQ(said("is_encoder_decoder", false),
            "is_encoder_decoder is false, which is not supported: a T5 is an encoder and a decoder here");
  EXPECT_EQ(
      said("feed_forward_proj", "gated-mish"),
      "feed_forward_proj is \"gated-mish\", which is not supported; supported are \"gelu\" (with the "
      "exact erf), \"gelu_new\", \"relu\", \"silu\", \"gated-gelu\", \"gated-silu\" and \"gated-relu\"");
  EXPECT_EQ(said("feed_forward_proj", 4), "feed_forward_proj must be a text, found 4");
  EXPECT_EQ(said("d_kv", 0), "d_kv must be at least 1, found 0");
  EXPECT_EQ(said("d_kv", std::int64_t{1} << 62),
            "d_kv must be at most 2147483647, found 4611686018427387904");
  EXPECT_EQ(said("d_kv", std::uint64_t{1} << 63), "d_kv must be an integer, found 9223372036854775808");
  EXPECT_EQ(said("d_kv", nullptr), "\"d_kv\" is missing");
  EXPECT_EQ(said("relative_attention_num_buckets", "many"),
            "relative_attention_num_buckets must be an integer, found \"many\"");
  EXPECT_EQ(said("tie_word_embeddings", "no"), "tie_word_embeddings must be true or false, found \"no\"");
  EXPECT_EQ(said("decoder_start_token_id", nullptr), "\"decoder_start_token_id\" is missing");
  nlohmann::json bert = TinyFolder::config();
  bert["hidden_act"] = "gated-gelu";
  EXPECT_EQ(config_problem(bert).find("hidden_act is \"gated-gelu\", which is not supported; "), 0U)
      << config_problem(bert);
}

TEST(PretrainedConfig, RejectsABartThatComputesDifferently) {
  const auto said = [](const char* member, const nlohmann::json& value) {
    nlohmann::json config = TinyFolder::bart_config();
    config[member] = value;
    return config_problem(config);
  };
  EXPECT_EQ(said("decoder_attention_heads", 2),
            "encoder_attention_heads = 4 and decoder_attention_heads = 2 differ, which is not supported");
  EXPECT_EQ(said("decoder_ffn_dim", 24),
            "encoder_ffn_dim = 16 and decoder_ffn_dim = 24 differ, which is not supported");
  EXPECT_EQ(
      said("decoder_start_token_id", 5),
      "decoder_start_token_id = 5 is neither bos_token_id nor eos_token_id nor pad_token_id, which is not "
      "supported");
  EXPECT_EQ(said("decoder_start_token_id", nullptr), "\"decoder_start_token_id\" is missing");
  EXPECT_EQ(said("decoder_layers", 0), "decoder_layers must be at least 1, found 0");
  EXPECT_EQ(said("normalize_before", true), "normalize_before is true, which is not supported");
  EXPECT_EQ(said("tie_word_embeddings", false), "tie_word_embeddings is false, which is not supported");
  EXPECT_EQ(said("activation_function", "mish").substr(0, 29), "activation_function is \"mish\"");
}

TEST(PretrainedConfig, RejectsInvalidPositionsOfARoberta) {
  nlohmann::json config = TinyFolder::roberta_config();
  config["max_position_embeddings"] = 2;
  EXPECT_EQ(
      config_problem(config),
      "max_position_embeddings is 2, and positions begin at pad_token_id + 1 = 2, so that none is left");
  config["pad_token_id"] = -1;
  EXPECT_EQ(config_problem(config), "pad_token_id must be at least 0, found -1");
  config["pad_token_id"] = std::int64_t{9223372036854775807};
  EXPECT_EQ(config_problem(config), "pad_token_id must be at most 2147483647, found 9223372036854775807");
  config = TinyFolder::roberta_config();
  config["position_embedding_type"] = "relative_key_query";
  EXPECT_EQ(config_problem(config),
            "position_embedding_type is \"relative_key_query\", which is not supported; supported is "
            "\"absolute\"");
}

/// The folders of Bart and Marian have members that are read and not written, so they are left out.
TEST(PretrainedConfig, OfFiveFamiliesIsWrittenAsItWasRead) {
  for (const nlohmann::json& config :
       {TinyFolder::config(), TinyFolder::distilbert_config(), TinyFolder::roberta_config(),
        TinyFolder::gpt2_config(), TinyFolder::t5_config()}) {
    nlohmann::json expected = config;
    expected.erase("architectures");
    expected.erase("position_embedding_type");
    if (config.at("model_type") == "t5")  // the tokenizer decides its markers
      for (const char* member : {"decoder_start_token_id", "pad_token_id", "eos_token_id"})
        expected.erase(member);
    EXPECT_EQ(pretrained_config_to_json(pretrained_config_from_json(config)), expected);
  }
}

TEST(PretrainedConfig, TakesTheDefaultsOfTransformersForMissingMembers) {
  nlohmann::json config = TinyFolder::config();
  for (const char* member :
       {"hidden_act", "layer_norm_eps", "hidden_dropout_prob", "position_embedding_type"})
    config.erase(member);
  const auto given = options(pretrained_config_from_json(config));
  EXPECT_EQ(given.at("model.layer.feed_forward.activation"), "gelu");
  EXPECT_EQ(given.at("model.layer.norm.epsilon"), "1e-12");
  EXPECT_EQ(given.at("model.dropout"), "0.1");
}

TEST(PretrainedConfig, RefusesOtherArchitecturesByName) {
  nlohmann::json other = with("model_type", "xlnet");
  other["architectures"] = {"XLNetModel"};
  EXPECT_EQ(config_problem(other),
            "model_type is \"xlnet\" (XLNetModel), which is another architecture; supported are "
            "\"bert\", \"distilbert\", \"roberta\", \"gpt2\", \"bart\", \"marian\" and \"t5\"");
  EXPECT_EQ(config_problem(with("model_type", "xlm-roberta")),
            "model_type is \"xlm-roberta\" (BertModel), which is another architecture; supported are "
            "\"bert\", \"distilbert\", \"roberta\", \"gpt2\", \"bart\", \"marian\" and \"t5\"");
  nlohmann::json none = TinyFolder::config();
  none.erase("model_type");
  EXPECT_EQ(config_problem(none),
            "\"model_type\" is missing; supported are \"bert\", \"distilbert\", \"roberta\", \"gpt2\", "
            "\"bart\", \"marian\" and \"t5\"");
  EXPECT_EQ(config_problem(nlohmann::json::array()), "a JSON object is expected");
}

TEST(PretrainedConfig, RefusesFunctionsThatItCannotCompute) {
  EXPECT_EQ(config_problem(with("hidden_act", "mish")),
            "hidden_act is \"mish\", which is not supported; supported are \"gelu\" (with the exact erf), "
            "\"gelu_new\", \"relu\" and \"silu\"");
  EXPECT_EQ(config_problem(with("position_embedding_type", "relative_key")),
            "position_embedding_type is \"relative_key\", which is not supported; supported is \"absolute\"");
  EXPECT_EQ(config_problem(with("is_decoder", true)), "is_decoder is true, but only encoders are supported");
  EXPECT_EQ(config_problem(with("quantization_config", {{"bits", 4}})),
            "quantization_config is set: the weights are quantized; save the model in float32 or float16");
  EXPECT_EQ(config_problem(with("pruned_heads", {{"0", {1}}})),
            "pruned_heads is not empty, and layers with fewer heads than others are not supported");
}

TEST(PretrainedConfig, RejectsInvalidNumbers) {
  EXPECT_EQ(config_problem(with("hidden_size", "wide")), "hidden_size must be an integer, found \"wide\"");
  EXPECT_EQ(config_problem(with("hidden_size", 8.5)), "hidden_size must be an integer, found 8.5");
  EXPECT_EQ(config_problem(with("num_hidden_layers", 0)), "num_hidden_layers must be at least 1, found 0");
  EXPECT_EQ(config_problem(with("hidden_dropout_prob", true)),
            "hidden_dropout_prob must be a number, found true");
  nlohmann::json without = TinyFolder::config();
  without.erase("intermediate_size");
  EXPECT_EQ(config_problem(without), "\"intermediate_size\" is missing");
}

}  // namespace
}  // namespace encore::pretrained
