// SPDX-License-Identifier: BSD-3-Clause
// The names of the numbers in config.json and of the tensors of a BART, which a Marian also has. Place in the
// flow: bart_family.cpp and marian_family.cpp put these functions into their Family; weights are read and
// written through it. The names are those of `transformers`, so they never change. Read next: family.hpp.
#pragma once

#include "pretrained/family.hpp"

namespace encore::pretrained {

inline constexpr ConfigNames bart_config = {.width = "d_model",
                                            .layers = "encoder_layers",
                                            .heads = "encoder_attention_heads",
                                            .hidden = "encoder_ffn_dim",
                                            .activation = "activation_function",
                                            .dropout = "dropout",
                                            .attention_dropout = "attention_dropout",
                                            .epsilon = "",
                                            .segments = "",
                                            .decoder_layers = "decoder_layers",
                                            .decoder_heads = "decoder_attention_heads",
                                            .decoder_hidden = "decoder_ffn_dim",
                                            .scaled = "scale_embedding"};

/// The name of the bias of the logits.
inline constexpr const char* bart_logit_bias = "final_logits_bias";

std::vector<FamilyTensor> bart_tensors_of(std::string_view path, PretrainedHead head);
std::string bart_spelling(std::string_view name);
/// Returns whether the name is another name of the table of tokens.
bool is_bart_buffer(std::string_view name);
bool is_of_bart_body(std::string_view name);
/// Adds the first spelling of the table if a file names it after one of its users.
void amend_bart(TensorSpellings& names);

}  // namespace encore::pretrained
