// SPDX-License-Identifier: BSD-3-Clause
// TinyFolder: a Hugging Face folder of a BERT of a few bytes, complete except for real values of the weights;
// a test then changes or damages one file, so the unchanged folder must stay one that is accepted. Tests of
// pretrained folders beside this file and tests/bounds use it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "record/safetensors.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::testing {

class TinyFolder {
 public:
  TinyFolder() {
    std::filesystem::create_directory(path());
    write("config.json", config().dump(2));
    write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nlund\n");
    const std::vector<float> values(6 * 8, 0.5F);
    record::save_safetensors(path() / "model.safetensors",
                             {{.name = "embeddings.word_embeddings.weight",
                               .dtype = DType::float32,
                               .shape = {6, 8},
                               .bytes = std::as_bytes(std::span(values))}},
                             {{"format", "pt"}});
  }

  std::filesystem::path path() const { return folder_ / "bert"; }
  std::filesystem::path operator/(const std::string& name) const { return path() / name; }
  void write(const std::string& name, const std::string& text) const { write_bytes(path() / name, text); }
  void remove(const std::string& name) const { std::filesystem::remove(path() / name); }

  /// Replaces one member of config.json.
  void set(const std::string& member, nlohmann::json value) const {
    nlohmann::json changed = nlohmann::json::parse(read_bytes(path() / "config.json"));
    changed[member] = std::move(value);
    write("config.json", changed.dump(2));
  }

  static nlohmann::json config() {
    return {{"architectures", {"BertModel"}},
            {"model_type", "bert"},
            {"vocab_size", 6},
            {"hidden_size", 8},
            {"num_hidden_layers", 2},
            {"num_attention_heads", 4},
            {"intermediate_size", 16},
            {"hidden_act", "gelu"},
            {"max_position_embeddings", 32},
            {"type_vocab_size", 2},
            {"layer_norm_eps", 1e-12},
            {"hidden_dropout_prob", 0.1},
            {"attention_probs_dropout_prob", 0.2},
            {"position_embedding_type", "absolute"}};
  }
  static nlohmann::json distilbert_config() {
    return {{"architectures", {"DistilBertModel"}},
            {"model_type", "distilbert"},
            {"vocab_size", 6},
            {"dim", 8},
            {"n_layers", 2},
            {"n_heads", 4},
            {"hidden_dim", 16},
            {"activation", "relu"},
            {"max_position_embeddings", 32},
            {"dropout", 0.1},
            {"attention_dropout", 0.2}};
  }

  static nlohmann::json gpt2_config() {
    return {{"architectures", {"GPT2LMHeadModel"}},
            {"model_type", "gpt2"},
            {"vocab_size", 6},
            {"n_embd", 8},
            {"n_layer", 2},
            {"n_head", 4},
            {"n_inner", 16},
            {"activation_function", "gelu_new"},
            {"n_positions", 32},
            {"layer_norm_epsilon", 1e-05},
            {"resid_pdrop", 0.1},
            {"attn_pdrop", 0.2}};
  }
  static nlohmann::json bart_config() {
    return {{"architectures", {"BartForConditionalGeneration"}},
            {"model_type", "bart"},
            {"vocab_size", 6},
            {"d_model", 8},
            {"encoder_layers", 2},
            {"decoder_layers", 3},
            {"encoder_attention_heads", 4},
            {"decoder_attention_heads", 4},
            {"encoder_ffn_dim", 16},
            {"decoder_ffn_dim", 16},
            {"activation_function", "gelu"},
            {"max_position_embeddings", 32},
            {"scale_embedding", false},
            {"bos_token_id", 2},
            {"pad_token_id", 0},
            {"eos_token_id", 3},
            {"decoder_start_token_id", 3},
            {"dropout", 0.1},
            {"attention_dropout", 0.2}};
  }
  static nlohmann::json marian_config() {
    nlohmann::json config = bart_config();
    config.update({{"architectures", {"MarianMTModel"}},
                   {"model_type", "marian"},
                   {"activation_function", "swish"},
                   {"scale_embedding", true},
                   {"decoder_start_token_id", 0}});
    return config;
  }
  static nlohmann::json t5_config() {
    return {{"architectures", {"T5ForConditionalGeneration"}},
            {"model_type", "t5"},
            {"vocab_size", 9},
            {"d_model", 8},
            {"d_kv", 3},
            {"d_ff", 16},
            {"num_layers", 2},
            {"num_decoder_layers", 3},
            {"num_heads", 4},
            {"n_positions", 32},
            {"relative_attention_num_buckets", 16},
            {"relative_attention_max_distance", 40},
            {"feed_forward_proj", "relu"},
            {"layer_norm_epsilon", 1e-06},
            {"dropout_rate", 0.1},
            {"tie_word_embeddings", true},
            {"scale_decoder_outputs", true},
            {"pad_token_id", 0},
            {"eos_token_id", 1},
            {"decoder_start_token_id", 0}};
  }
  static nlohmann::json roberta_config() {
    nlohmann::json config = TinyFolder::config();
    config.update({{"architectures", {"RobertaModel"}},
                   {"model_type", "roberta"},
                   {"type_vocab_size", 1},
                   {"layer_norm_eps", 1e-05},
                   {"pad_token_id", 1}});
    return config;
  }

 private:
  TemporaryFolder folder_;
};

/// Returns a SentencePiece model of these tokens, as far as its file is read without the library.
inline std::string sentencepiece_model_of(const std::vector<std::string>& tokens) {
  std::string file;
  for (const std::string& token : tokens) {
    const std::string text = "\x0A" + std::string(1, static_cast<char>(token.size())) + token;
    file += "\x0A" + std::string(1, static_cast<char>(text.size())) + text;
  }
  return file;
}

}  // namespace encore::testing
