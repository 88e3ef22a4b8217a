// SPDX-License-Identifier: BSD-3-Clause
// Maps names of the numbers and the tensors of a BART, which a Marian also has. They are parts of a Family.
// bart_family.cpp and marian_family.cpp use them.
#pragma once

#include "pretrained/family.hpp"

namespace encore {

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
/// Returns whether it is another name of the table of tokens.
bool is_bart_buffer(std::string_view name);
bool is_of_bart_body(std::string_view name);
/// A file may name the table after one of its users; this adds the first spelling.
void amend_bart(TensorSpellings& names);

}  // namespace encore
