// SPDX-License-Identifier: BSD-3-Clause
// gpt2_family: how a GPT-2 of Hugging Face is read and written, for the table in family.cpp: the names of
// settings and tensors, and what is refused. GPT-2 stores matrices as (in, out), so they are transposed.
// Folders of the class GPT2Model have names of tensors without "transformer." in front. All values are those
// of `transformers`: change one only if its class has another. Read next: family.hpp for the members.
#include <algorithm>
#include <iterator>
#include <optional>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "pretrained/config_member.hpp"
#include "pretrained/family.hpp"

namespace encore::pretrained {
namespace {

struct Gpt2Renaming {
  std::string_view from, to;
  bool transposed = false;
};

constexpr std::string_view gpt2_body = "transformer.";
constexpr std::string_view gpt2_blocks = "encoder.";

constexpr Gpt2Renaming gpt2_whole_names[] = {
    {"embedding.tokens", "wte.weight"},
    {"embedding.positions", "wpe.weight"},
    {"encoder.norm.gain", "ln_f.weight"},
    {"encoder.norm.bias", "ln_f.bias"},
};

/// These names follow "encoder.L." and "transformer.h.L.".
constexpr Gpt2Renaming gpt2_block_names[] = {
    {"attention.norm.gain", "ln_1.weight"},
    {"attention.norm.bias", "ln_1.bias"},
    {"attention.qkv.weight", "attn.c_attn.weight", true},
    {"attention.qkv.bias", "attn.c_attn.bias"},
    {"attention.out.weight", "attn.c_proj.weight", true},
    {"attention.out.bias", "attn.c_proj.bias"},
    {"feed_forward.norm.gain", "ln_2.weight"},
    {"feed_forward.norm.bias", "ln_2.bias"},
    {"feed_forward.up.weight", "mlp.c_fc.weight", true},
    {"feed_forward.up.bias", "mlp.c_fc.bias"},
    {"feed_forward.down.weight", "mlp.c_proj.weight", true},
    {"feed_forward.down.bias", "mlp.c_proj.bias"},
};

std::vector<FamilyTensor> gpt2_tensors_of(std::string_view path, PretrainedHead) {
  if (const auto* whole = std::ranges::find(gpt2_whole_names, path, &Gpt2Renaming::from);
      whole != std::end(gpt2_whole_names))
    return {{.name = std::string(gpt2_body) + std::string(whole->to)}};
  if (!path.starts_with(gpt2_blocks)) return {};
  path.remove_prefix(gpt2_blocks.size());
  const std::string_view number = cut_number(path);
  const auto* found = std::ranges::find(gpt2_block_names, path, &Gpt2Renaming::from);
  if (number.empty() || found == std::end(gpt2_block_names)) return {};
  return {{.name = std::string(gpt2_body) + "h." + std::string(number) + std::string(found->to),
           .transposed = found->transposed}};
}

std::string gpt2_spelling(std::string_view name) {
  for (const std::string_view beginning : {"wte.", "wpe.", "ln_f.", "h."})
    if (name.starts_with(beginning)) return std::string(gpt2_body) + std::string(name);
  return std::string(name);
}

/// Returns whether it is the mask of an attention, or the output that is the table of the embedding.
bool is_gpt2_buffer(std::string_view name) {
  return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias") || name == "lm_head.weight";
}

bool is_of_gpt2_body(std::string_view name) {
  return name.starts_with(gpt2_body) && !is_gpt2_buffer(name);
}

/// Refuses options that GPT-2 has and this program does not compute.
void refuse_other_gpt2(const nlohmann::json& config) {
  for (const char* name : {"scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn"})
    if (is_set(config, name)) throw Error(std::string(name) + " is true, which is not supported");
  for (const char* name : {"scale_attn_weights", "tie_word_embeddings"})
    if (!is_set(config, name, true)) throw Error(std::string(name) + " is false, which is not supported");
}

PretrainedClass gpt2_class_of(const HeadPlan& head, const std::string& type) {
  if (pretrained_head_of(head) == PretrainedHead::language_model)
    return {.name = "GPT2LMHeadModel", .pipeline = "text-generation"};
  throw Error("model.head.type = \"" + type +
              "\" of a causal model cannot be written as a GPT-2, which has one for the next token");
}

}  // namespace

const Family gpt2_family = {
    .model_type = "gpt2",
    .name = "GPT-2",
    .tokenizer = &byte_bpe_files,
    .tokenizer_class = "GPT2Tokenizer",
    .config = {.width = "n_embd",
               .layers = "n_layer",
               .heads = "n_head",
               .hidden = "n_inner",
               .activation = "activation_function",
               .dropout = "resid_pdrop",
               .attention_dropout = "attn_pdrop",
               .epsilon = "layer_norm_epsilon",
               .segments = "",
               .positions = "n_positions"},
    .shape = {.causal = true,
              .pre_norm = true,
              .embedding_norm = false,
              .activation = "gelu_new",
              .epsilon = 1e-5,
              .hidden_per_width = 4},
    .refuse = refuse_other_gpt2,
    .tensors_of = gpt2_tensors_of,
    .first_spelling = gpt2_spelling,
    .is_of_body = is_of_gpt2_body,
    .is_buffer = is_gpt2_buffer,
    .class_of = gpt2_class_of,
};

}  // namespace encore::pretrained
