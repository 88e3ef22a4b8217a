#include "pretrained/gpt2_names.hpp"

#include <algorithm>
#include <iterator>

namespace encore {
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

/// Behind "encoder.L." and "transformer.h.L.".
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

}  // namespace

Gpt2Tensor gpt2_tensor_of(std::string_view path) {
  if (const auto* whole = std::ranges::find(gpt2_whole_names, path, &Gpt2Renaming::from);
      whole != std::end(gpt2_whole_names))
    return {.name = std::string(gpt2_body) + std::string(whole->to)};
  if (!path.starts_with(gpt2_blocks)) return {};
  path.remove_prefix(gpt2_blocks.size());
  const std::size_t digits = std::min(path.find_first_not_of("0123456789"), path.size());
  if (digits == 0 || digits == path.size() || path[digits] != '.') return {};
  const auto* found = std::ranges::find(gpt2_block_names, path.substr(digits + 1), &Gpt2Renaming::from);
  if (found == std::end(gpt2_block_names)) return {};
  return {.name = std::string(gpt2_body) + "h." + std::string(path.substr(0, digits + 1)) +
                  std::string(found->to),
          .transposed = found->transposed};
}

std::string gpt2_spelling(std::string_view name) {
  for (const std::string_view beginning : {"wte.", "wpe.", "ln_f.", "h."})
    if (name.starts_with(beginning)) return std::string(gpt2_body) + std::string(name);
  return std::string(name);
}

bool is_of_gpt2_body(std::string_view name) {
  return name.starts_with(gpt2_body) && !is_gpt2_buffer(name);
}

bool is_gpt2_buffer(std::string_view name) {
  return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias") || name == "lm_head.weight";
}

}  // namespace encore
