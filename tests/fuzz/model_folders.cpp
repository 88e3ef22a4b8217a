// SPDX-License-Identifier: BSD-3-Clause
// Makes the folders of model_folders.hpp. The files have the content that `transformers` 5 writes for models
// of these sizes, and `exp import` must accept each folder as it is.
#include "fuzz/model_folders.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

#include <encore/base64.hpp>

#include "byte_bpe.hpp"
#include "support/places.hpp"

namespace encore::fuzz {

namespace {

using nlohmann::json;

const std::string flags_of_marker =
    R"("single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true)";

json numbered(const std::vector<std::string>& tokens) {
  json vocabulary = json::object();
  for (const std::string& token : tokens) vocabulary.emplace(token, vocabulary.size());
  return vocabulary;
}

json marker(const std::string& content, std::size_t number) {
  json token = json::parse("{" + flags_of_marker + "}");
  token["id"] = number;
  token["content"] = content;
  return token;
}

json markers(const std::vector<std::string>& contents) {
  json list = json::array();
  for (const std::string& content : contents) list.push_back(marker(content, list.size()));
  return list;
}

std::string lines(const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += token + "\n";
  return text;
}

// --- BERT ---

const std::vector<std::string> bert_markers = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

std::vector<std::string> bert_tokens() {
  std::vector<std::string> tokens = bert_markers;
  tokens.insert(tokens.end(),
                {"the",  "low",    "##est",  "##er", "new", "##s", "turm", "!",   ".",    "'",
                 "2026", "\u65e5", "\u672c", "a",    "##b", "e",   "x",    "##x", "[E9]", "new york"});
  return tokens;
}

json bert_config(const std::string& architecture) {
  json config = json::parse(R"({"architectures":[],"attention_probs_dropout_prob":0.1,
    "classifier_dropout":null,"hidden_act":"gelu","hidden_dropout_prob":0.1,"hidden_size":16,
    "initializer_range":0.02,"intermediate_size":24,"is_decoder":false,"layer_norm_eps":1e-12,
    "max_position_embeddings":48,"model_type":"bert","num_attention_heads":2,"num_hidden_layers":2,
    "pad_token_id":0,"tie_word_embeddings":true,"type_vocab_size":2,"use_cache":true})");
  config["architectures"].push_back(architecture);
  config["vocab_size"] = bert_tokens().size();
  return config;
}

/// tokenizer.json of a BERT.
json bert_whole() {
  json whole = json::parse(R"({"version":"1.0","truncation":null,"padding":null,
    "normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,
      "strip_accents":null,"lowercase":true},
    "pre_tokenizer":{"type":"BertPreTokenizer"},
    "post_processor":{"type":"TemplateProcessing",
      "single":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}},
        {"SpecialToken":{"id":"[SEP]","type_id":0}}],
      "pair":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}},
        {"SpecialToken":{"id":"[SEP]","type_id":0}},{"Sequence":{"id":"B","type_id":1}},
        {"SpecialToken":{"id":"[SEP]","type_id":1}}],
      "special_tokens":{"[CLS]":{"id":"[CLS]","ids":[2],"tokens":["[CLS]"]},
        "[SEP]":{"id":"[SEP]","ids":[3],"tokens":["[SEP]"]}}},
    "decoder":{"type":"WordPiece","prefix":"##","cleanup":true},
    "model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",
      "max_input_chars_per_word":100}})");
  whole["added_tokens"] = markers(bert_markers);
  const std::vector<std::string> tokens = bert_tokens();
  for (const std::string added : {"[E9]", "new york"}) {
    json token = marker(added, static_cast<std::size_t>(std::ranges::find(tokens, added) - tokens.begin()));
    token["special"] = added == "[E9]";
    token["normalized"] = token["rstrip"] = added == "new york";
    whole["added_tokens"].push_back(std::move(token));
  }
  whole["model"]["vocab"] = numbered(tokens);
  return whole;
}

/// added_tokens_decoder of tokenizer_config.json, which says the same as tokenizer.json.
json added_tokens_by_number(const json& whole) {
  json tokens = json::object();
  for (json token : whole.at("added_tokens")) {
    const std::string number = token.at("id").dump();
    token.erase("id");
    tokens[number] = std::move(token);
  }
  return tokens;
}

FolderFiles bert_folder() {
  return {{"config.json", bert_config("BertModel").dump()},
          {"vocab.txt", lines(bert_tokens())},
          {"tokenizer.json", bert_whole().dump()},
          {"tokenizer_config.json",
           R"({"cls_token":"[CLS]","do_lower_case":true,"mask_token":"[MASK]","model_max_length":40,
           "pad_token":"[PAD]","sep_token":"[SEP]","strip_accents":null,"tokenize_chinese_chars":true,
           "tokenizer_class":"BertTokenizer","unk_token":"[UNK]","additional_special_tokens":["[E9]"],
           "added_tokens_decoder":)" +
               added_tokens_by_number(bert_whole()).dump() + "}"},
          {"special_tokens_map.json",
           R"({"cls_token":"[CLS]","mask_token":{"content":"[MASK]","lstrip":false,"normalized":false,
           "rstrip":false,"single_word":false},"pad_token":"[PAD]","sep_token":"[SEP]","unk_token":"[UNK]",
           "additional_special_tokens":["[E9]"]})"},
          {"added_tokens.json", R"({"[E9]":23,"new york":24})"},
          {"modules.json",
           R"([{"idx":0,"name":"0","path":"","type":"sentence_transformers.models.Transformer"},
           {"idx":1,"name":"1","path":"1_Pooling","type":"sentence_transformers.models.Pooling"},
           {"idx":2,"name":"2","path":"2_Normalize","type":"sentence_transformers.models.Normalize"}])"},
          {"1_Pooling/config.json",
           R"({"word_embedding_dimension":16,"pooling_mode_cls_token":false,"pooling_mode_mean_tokens":true,
           "pooling_mode_max_tokens":false,"pooling_mode_mean_sqrt_len_tokens":false})"},
          {"sentence_bert_config.json", R"({"max_seq_length":32,"do_lower_case":false})"},
          {"config_sentence_transformers.json", R"({"prompts":{},"default_prompt_name":null})"}};
}

/// A BERT that classifies, with its tokens in tokenizer.json alone.
FolderFiles bert_whole_folder() {
  json config = bert_config("BertForTokenClassification");
  config["id2label"] = {{"0", "O"}, {"1", "B-PER"}, {"2", "I-PER"}};
  config["label2id"] = {{"O", 0}, {"B-PER", 1}, {"I-PER", 2}};
  return {{"config.json", config.dump()}, {"tokenizer.json", bert_whole().dump()}};
}

// --- RoBERTa, GPT-2, BART ---

const std::vector<std::string> roberta_markers = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"};

const std::string roberta_tokenizer_config =
    R"({"add_prefix_space":false,"bos_token":"<s>","cls_token":"<s>","eos_token":"</s>",
        "errors":"replace","mask_token":"<mask>","model_max_length":44,"pad_token":"<pad>",
        "sep_token":"</s>","tokenizer_class":"RobertaTokenizer","trim_offsets":true,"unk_token":"<unk>"})";

FolderFiles byte_bpe_folder(json config, const std::vector<std::string>& markers_of_it,
                            const std::string& tokenizer_config) {
  const std::vector<std::string> tokens = byte_tokens(markers_of_it);
  config["vocab_size"] = tokens.size();
  return {{"config.json", config.dump()},
          {"vocab.json", numbered(tokens).dump()},
          {"merges.txt", byte_merges},
          {"tokenizer_config.json", tokenizer_config}};
}

json roberta_config() {
  json config = bert_config("RobertaForMaskedLM");
  config.update(json::parse(R"({"model_type":"roberta","type_vocab_size":1,"layer_norm_eps":1e-5,
    "pad_token_id":1,"bos_token_id":0,"eos_token_id":2,"max_position_embeddings":50})"));
  return config;
}

/// Tokens and merges in tokenizer.json alone.
FolderFiles roberta_whole_folder() {
  json whole = json::parse(R"({"version":"1.0","truncation":null,"padding":null,"normalizer":null,
    "pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true},
    "post_processor":{"type":"RobertaProcessing","sep":["</s>",2],"cls":["<s>",0],"trim_offsets":true,
      "add_prefix_space":false},
    "decoder":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true},
    "model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":"",
      "end_of_word_suffix":"","fuse_unk":false,"byte_fallback":false,"ignore_merges":false,
      "merges":[["l","o"],["lo","w"],["Ġ","low"],"e r"]}})");
  whole["added_tokens"] = markers(roberta_markers);
  const std::vector<std::string> tokens = byte_tokens(roberta_markers);
  whole["model"]["vocab"] = numbered(tokens);
  json config = roberta_config();
  config["vocab_size"] = tokens.size();
  return {{"config.json", config.dump()},
          {"tokenizer.json", whole.dump()},
          {"tokenizer_config.json", roberta_tokenizer_config}};
}

FolderFiles gpt2_folder() {
  const json config = json::parse(R"({"activation_function":"gelu_new","architectures":["GPT2LMHeadModel"],
    "attn_pdrop":0.1,"bos_token_id":0,"embd_pdrop":0.1,"eos_token_id":0,"initializer_range":0.02,
    "layer_norm_epsilon":1e-5,"model_type":"gpt2","n_embd":16,"n_head":2,"n_inner":null,"n_layer":2,
    "n_positions":160,"reorder_and_upcast_attn":false,"resid_pdrop":0.1,
    "scale_attn_by_inverse_layer_idx":false,"scale_attn_weights":true,"tie_word_embeddings":true})");
  FolderFiles files =
      byte_bpe_folder(config, {"<|endoftext|>"},
                      R"({"add_prefix_space":false,"bos_token":"<|endoftext|>","eos_token":"<|endoftext|>",
          "model_max_length":1000000000000000019884624838656,"pad_token":null,
          "tokenizer_class":"GPT2Tokenizer","unk_token":"<|endoftext|>"})");
  files["generation_config.json"] = R"({"_from_model_config":true,"bos_token_id":0,"eos_token_id":0})";
  return files;
}

FolderFiles bart_folder() {
  const json config = json::parse(R"({"activation_dropout":0.0,"activation_function":"gelu",
    "architectures":["BartForConditionalGeneration"],"attention_dropout":0.0,"bos_token_id":0,"d_model":16,
    "decoder_attention_heads":2,"decoder_ffn_dim":24,"decoder_layers":2,"decoder_start_token_id":2,
    "dropout":0.1,"encoder_attention_heads":2,"encoder_ffn_dim":24,"encoder_layers":2,"eos_token_id":2,
    "forced_eos_token_id":2,"forced_bos_token_id":0,"is_encoder_decoder":true,
    "max_position_embeddings":160,"model_type":"bart","pad_token_id":1,"scale_embedding":false,
    "tie_word_embeddings":true})");
  FolderFiles files = byte_bpe_folder(config, roberta_markers, roberta_tokenizer_config);
  files["generation_config.json"] =
      R"({"bos_token_id":0,"decoder_start_token_id":2,"eos_token_id":2,"forced_bos_token_id":0,
          "forced_eos_token_id":2,"pad_token_id":1})";
  return files;
}

// --- MarianMT, T5 ---

FolderFiles marian_folder() {
  const SentencePieceFile model = sentencepiece_file("plain");
  std::vector<std::string> tokens = {"</s>", "<unk>"};
  for (const std::string& token : model.tokens)
    if (!token.starts_with('<')) tokens.push_back(token);
  tokens.insert(tokens.end(), {">>de<<", "<pad>"});
  json config = json::parse(R"({"activation_function":"swish","architectures":["MarianMTModel"],
    "attention_dropout":0.0,"d_model":16,"decoder_attention_heads":2,"decoder_ffn_dim":24,
    "decoder_layers":2,"dropout":0.1,"encoder_attention_heads":2,"encoder_ffn_dim":24,"encoder_layers":2,
    "eos_token_id":0,"forced_eos_token_id":0,"is_encoder_decoder":true,"max_position_embeddings":160,
    "model_type":"marian","scale_embedding":true,"share_encoder_decoder_embeddings":true,
    "tie_word_embeddings":true})");
  config["vocab_size"] = config["decoder_vocab_size"] = tokens.size();
  config["pad_token_id"] = config["decoder_start_token_id"] = tokens.size() - 1;
  return {{"config.json", config.dump()},
          {"vocab.json", numbered(tokens).dump()},
          {"source.spm", model.bytes},
          {"target.spm", model.bytes},
          {"tokenizer_config.json",
           R"({"eos_token":"</s>","model_max_length":512,"pad_token":"<pad>","separate_vocabs":false,
               "source_lang":null,"sp_model_kwargs":{},"target_lang":null,
               "tokenizer_class":"MarianTokenizer","unk_token":"<unk>","added_tokens_decoder":
               {"0":{"content":"</s>",)" +
               flags_of_marker + "}}}"}};
}

FolderFiles t5_folder() {
  const SentencePieceFile model = sentencepiece_file("plain");
  json config = json::parse(R"({"architectures":["T5ForConditionalGeneration"],"d_ff":24,"d_kv":12,
    "d_model":16,"decoder_start_token_id":0,"dense_act_fn":"gelu_new","dropout_rate":0.1,"eos_token_id":3,
    "feed_forward_proj":"gated-gelu","is_encoder_decoder":true,"is_gated_act":true,
    "layer_norm_epsilon":1e-6,"model_type":"t5","num_decoder_layers":2,"num_heads":2,"num_layers":2,
    "pad_token_id":0,"relative_attention_max_distance":24,"relative_attention_num_buckets":8,
    "scale_decoder_outputs":true,"tie_word_embeddings":true})");
  config["vocab_size"] = model.tokens.size() + 7;
  return {{"config.json", config.dump()},
          {"spiece.model", model.bytes},
          {"tokenizer_config.json",
           R"({"tokenizer_class":"T5Tokenizer","extra_ids":4,"model_max_length":160,"pad_token":"<pad>",
               "eos_token":"</s>","unk_token":"<unk>"})"}};
}

}  // namespace

std::vector<std::string> byte_tokens(std::vector<std::string> markers_of_it) {
  for (const unsigned char byte : byte_bpe::alphabet())
    markers_of_it.push_back(byte_bpe::printable(std::string(1, static_cast<char>(byte))));
  markers_of_it.insert(markers_of_it.end(), {"lo", "low", "\u0120low", "er"});
  return markers_of_it;
}

SentencePieceFile sentencepiece_file(const std::string& name) {
  static const json cases =
      json::parse(std::ifstream(ENCORE_SOURCE_DIR "/tests/unit/plugins/unigram_cases.json"));
  return {from_base64(cases.at(name).at("model").get<std::string>()), cases.at(name).at("pieces")};
}

const std::map<std::string, FolderFiles>& model_folders() {
  static const std::map<std::string, FolderFiles> folders = {
      {"bert", bert_folder()},
      {"bert_whole", bert_whole_folder()},
      {"roberta", byte_bpe_folder(roberta_config(), roberta_markers, roberta_tokenizer_config)},
      {"roberta_whole", roberta_whole_folder()},
      {"gpt2", gpt2_folder()},
      {"bart", bart_folder()},
      {"marian", marian_folder()},
      {"t5", t5_folder()}};
  return folders;
}

}  // namespace encore::fuzz
