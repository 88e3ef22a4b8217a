// SPDX-License-Identifier: BSD-3-Clause
// Maps names of parameters here to names of tensors in a BART, and back; bart_family.cpp and
// marian_family.cpp point to these functions. BartModel alone writes its names without "model." in front. The
// names are those of `transformers` and of stored checkpoints, so neither side changes.
#include "pretrained/bart_names.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace encore::pretrained {
namespace {

struct BartRenaming {
  std::string_view from, to;
};

constexpr std::string_view bart_body = "model.";
constexpr const char* bart_table = "model.shared.weight";

/// These names follow "embedding." and "model.encoder."; for the decoder, "decoder." precedes both.
constexpr BartRenaming bart_embedding_names[] = {
    {"positions", "embed_positions.weight"},
    {"norm.gain", "layernorm_embedding.weight"},
    {"norm.bias", "layernorm_embedding.bias"},
};

/// These names follow "encoder.L." and "model.encoder.layers.L."; the decoder has the same ones.
constexpr BartRenaming bart_block_names[] = {
    {"attention.out.", "self_attn.out_proj."},
    {"attention.norm.", "self_attn_layer_norm."},
    {"cross.q.", "encoder_attn.q_proj."},
    {"cross.out.", "encoder_attn.out_proj."},
    {"cross.norm.", "encoder_attn_layer_norm."},
    {"feed_forward.up.", "fc1."},
    {"feed_forward.down.", "fc2."},
    {"feed_forward.norm.", "final_layer_norm."},
};

/// A matrix of Encore holds several of `transformers`, one below the other.
constexpr std::pair<std::string_view, std::array<std::string_view, 3>> bart_packed_names[] = {
    {"attention.qkv.", {"self_attn.q_proj.", "self_attn.k_proj.", "self_attn.v_proj."}},
    {"cross.kv.", {"encoder_attn.k_proj.", "encoder_attn.v_proj."}},
};

/// Returns the end of their name: "gain" of a norm is its weight.
std::string bart_end(std::string_view end) {
  if (end == "gain") return "weight";
  return end == "weight" || end == "bias" ? std::string(end) : std::string();
}

/// Returns the tensors of a parameter of a block. `path` is what follows the number of the block.
std::vector<std::string> bart_block_tensors(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view name = path.substr(0, dot + 1);
  const std::string end = bart_end(path.substr(dot + 1));
  if (end.empty()) return {};
  std::vector<std::string> names;
  for (const auto& [from, parts] : bart_packed_names)
    for (const std::string_view part : parts)
      if (from == name && !part.empty()) names.push_back(std::string(part) + end);
  const auto* found = std::ranges::find(bart_block_names, name, &BartRenaming::from);
  if (found != std::end(bart_block_names)) names.push_back(std::string(found->to) + end);
  return names;
}

}  // namespace

std::vector<FamilyTensor> bart_tensors_of(std::string_view path, PretrainedHead head) {
  if (path == "embedding.tokens") return {{.name = bart_table}};
  if (path == "head.bias" && head == PretrainedHead::language_model)
    return {{.name = bart_logit_bias, .one_row = true}};
  std::string stack = "encoder.";
  if (path.starts_with("decoder.")) {
    stack = "decoder.";
    path.remove_prefix(stack.size());
  } else if (path.starts_with(stack)) {
    path.remove_prefix(stack.size());
  } else if (!path.starts_with("embedding.")) {
    return {};
  }
  constexpr std::string_view embedding = "embedding.";
  if (path.starts_with(embedding)) {
    path.remove_prefix(embedding.size());
    const auto* found = std::ranges::find(bart_embedding_names, path, &BartRenaming::from);
    if (found == std::end(bart_embedding_names)) return {};
    return {{.name = std::string(bart_body) + stack + std::string(found->to)}};
  }
  const std::string_view number = cut_number(path);
  if (number.empty()) return {};
  std::vector<FamilyTensor> tensors;
  for (const std::string& name : bart_block_tensors(path))
    tensors.push_back({.name = std::string(bart_body) + stack + "layers." + std::string(number) + name});
  return tensors;
}

std::string bart_spelling(std::string_view name) {
  for (const std::string_view beginning : {"shared.", "encoder.", "decoder."})
    if (name.starts_with(beginning)) return std::string(bart_body) + std::string(name);
  return std::string(name);
}

bool is_bart_buffer(std::string_view name) {
  return name.ends_with(".embed_tokens.weight") || name == "lm_head.weight";
}

bool is_of_bart_body(std::string_view name) {
  return name.starts_with(bart_body) && !is_bart_buffer(name);
}

void amend_bart(TensorSpellings& names) {
  for (const char* user :
       {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"})
    if (const auto found = names.find(user); found != names.end()) names.emplace(bart_table, found->second);
}

}  // namespace encore::pretrained
