// SPDX-License-Identifier: BSD-3-Clause
// t5_family: T5 for the table in family.cpp: an encoder and a decoder whose attention knows positions only
// from a table of distances per stack; a norm without a bias before each sub-layer, no other bias, and scores
// that are not divided. The first T5 has relu, and logits from its table of tokens; version 1.1 and Flan have
// a gated activation and a separate matrix for the logits. All values are those of `transformers`: change one
// only if its class has another. Read next: family.hpp for the members.
#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "pretrained/config_member.hpp"
#include "pretrained/family.hpp"

namespace encore::pretrained {
namespace {

using nlohmann::json;

constexpr const char* t5_table = "shared.weight";
constexpr const char* t5_output = "lm_head.weight";
constexpr const char* scaled_outputs = "scale_decoder_outputs";
constexpr const char* tied_name = "tie_word_embeddings";

/// A sub-layer: its names here and there, and its number in a block of encoder and decoder.
struct T5SubLayer {
  std::string_view ours, theirs;
  int in_encoder, in_decoder;
};
constexpr T5SubLayer t5_sub_layers[] = {
    {"attention.", "SelfAttention.", 0, 0},
    {"cross.", "EncDecAttention.", -1, 1},
    {"feed_forward.", "DenseReluDense.", 1, 2},
};

/// A parameter of a sub-layer, and the tensors, one below the other, of which it is made.
struct T5Tensor {
  std::string_view ours;
  std::string_view theirs[3];
};
constexpr T5Tensor t5_names[] = {
    {"qkv.weight", {"q", "k", "v"}},
    {"q.weight", {"q"}},
    {"kv.weight", {"k", "v"}},
    {"out.weight", {"o"}},
    {"distances", {"relative_attention_bias"}},
    {"up.weight", {"wi"}},
    {"gate_up.weight", {"wi_0", "wi_1"}},
    {"down.weight", {"wo"}},
};

/// Returns the tensors of a parameter of a block. `path` is what follows the number of the block.
std::vector<std::string> t5_block_tensors(std::string_view path, bool of_decoder) {
  for (const T5SubLayer& layer : t5_sub_layers) {
    const int number = of_decoder ? layer.in_decoder : layer.in_encoder;
    if (!path.starts_with(layer.ours) || number < 0) continue;
    path.remove_prefix(layer.ours.size());
    const std::string beginning = "layer." + std::to_string(number) + ".";
    if (path == "norm.gain") return {beginning + "layer_norm.weight"};
    std::vector<std::string> names;
    for (const T5Tensor& tensor : t5_names)
      for (const std::string_view part : tensor.theirs)
        if (tensor.ours == path && !part.empty())
          names.push_back(beginning + std::string(layer.theirs) + std::string(part) + ".weight");
    return names;
  }
  return {};
}

std::vector<FamilyTensor> t5_tensors_of(std::string_view path, PretrainedHead head) {
  if (path == "embedding.tokens") return {{.name = t5_table}};
  if (path == "head.output.weight" && head == PretrainedHead::language_model) return {{.name = t5_output}};
  for (const std::string_view stack : {"encoder.", "decoder."}) {
    if (!path.starts_with(stack)) continue;
    path.remove_prefix(stack.size());
    if (path == "norm.gain") return {{.name = std::string(stack) + "final_layer_norm.weight"}};
    const std::string_view number = cut_number(path);
    if (number.empty()) return {};
    std::vector<FamilyTensor> tensors;
    for (const std::string& name : t5_block_tensors(path, stack == "decoder."))
      tensors.push_back({.name = std::string(stack) + "block." + std::string(number) + name});
    return tensors;
  }
  return {};
}

std::string t5_spelling(std::string_view name) {
  return std::string(name);
}

/// Returns whether the tensor is another name of the table, or a bias that attention over the encoder had in
/// the first files and never used.
bool is_t5_buffer(std::string_view name) {
  return name.ends_with(".embed_tokens.weight") || name == t5_output ||
         name.ends_with(".EncDecAttention.relative_attention_bias.weight");
}

bool is_of_t5_body(std::string_view name) {
  const bool of_stack = name.starts_with("encoder.") || name.starts_with("decoder.");
  return (of_stack || name == t5_table) && !is_t5_buffer(name);
}

/// Adds the first spelling of the table if a file names it after one of its users.
void amend_t5(TensorSpellings& names) {
  for (const char* user : {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"})
    if (const auto found = names.find(user); found != names.end()) names.emplace(t5_table, found->second);
}

/// Adds the defaults of T5Config. Before version 5 of `transformers`, only tie_word_embeddings in config.json
/// says that states are not divided.
void complete_t5(json& config) {
  const auto add = [&](const char* name, const json& value) {
    if (config.value(name, json()).is_null()) config[name] = value;
  };
  add("num_decoder_layers", config.value("num_layers", json()));
  add("n_positions", 512);  // the length with which T5 was trained; there is no limit
  add("relative_attention_num_buckets", 32);
  add("relative_attention_max_distance", 128);
  add(scaled_outputs, is_set(config, tied_name, true));
}

void refuse_other_t5(const json& config) {
  if (!is_set(config, "is_encoder_decoder", true))
    throw Error("is_encoder_decoder is false, which is not supported: a T5 is an encoder and a decoder here");
}

PretrainedClass t5_class_of(const HeadPlan& head, const std::string& type) {
  if (pretrained_head_of(head) == PretrainedHead::language_model)
    return {.name = "T5ForConditionalGeneration", .pipeline = "text2text-generation"};
  throw Error("model.head.type = \"" + type +
              "\" over a decoder cannot be written as a T5, which has one for the next token");
}

void add_t5_members(json& config, const Options& task) {
  for (const char* option : {"source_start", "target_begins"})
    if (task.has(option) && task.flag(option))
      throw Error(
          "task." + std::string(option) +
          " = true cannot be written as a T5, whose text does not begin with a marker; train with task." +
          std::string(option) + " = false");
  if (config.at(scaled_outputs) == true && config.at(tied_name) == false)
    throw Error(
        "model.head.tied = false with model.head.scaled = true cannot be written as a T5, which divides the "
        "states only before its table; train with one of them");
  config.erase("bos_token_id");
  config["is_encoder_decoder"] = true;
  config["decoder_start_token_id"] = target_start_token(config, task.text("target_start"));
}

}  // namespace

const Family t5_family = {.model_type = "t5",
                          .name = "T5",
                          .tokenizer = &t5_files,
                          .tokenizer_class = "T5Tokenizer",
                          .config = {.width = "d_model",
                                     .layers = "num_layers",
                                     .heads = "num_heads",
                                     .hidden = "d_ff",
                                     .activation = "feed_forward_proj",
                                     .dropout = "dropout_rate",
                                     .attention_dropout = "dropout_rate",
                                     .epsilon = "layer_norm_epsilon",
                                     .segments = "",
                                     .positions = "n_positions",
                                     .decoder_layers = "num_decoder_layers",
                                     .head_size = "d_kv",
                                     .buckets = "relative_attention_num_buckets",
                                     .max_distance = "relative_attention_max_distance",
                                     .tied = tied_name,
                                     .scaled_states = scaled_outputs},
                          .shape = {.pre_norm = true,
                                    .norm = "rms_norm",
                                    .attention = "relative_attention",
                                    .scaled_scores = false,
                                    .biases = false,
                                    .gates = true,
                                    .bare_head = true,
                                    .embedding_norm = false,
                                    .decoder = true,
                                    .positions = config::Positions::none,
                                    .activation = "relu",
                                    .epsilon = 1e-6},
                          .complete = complete_t5,
                          .refuse = refuse_other_t5,
                          .tensors_of = t5_tensors_of,
                          .first_spelling = t5_spelling,
                          .amend = amend_t5,
                          .is_of_body = is_of_t5_body,
                          .is_buffer = is_t5_buffer,
                          .class_of = t5_class_of,
                          .output_matrix = t5_output,
                          .add_members = add_t5_members};

}  // namespace encore::pretrained
