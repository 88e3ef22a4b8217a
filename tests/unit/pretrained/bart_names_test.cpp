// SPDX-License-Identifier: BSD-3-Clause
// Tests the names of BART's tensors in a model.safetensors (bart_family, pretrained/bart_names.hpp): which
// tensor each parameter is read from and written to. The names are those of `transformers`, so they are
// fixed.
#include <gtest/gtest.h>

#include "pretrained/family.hpp"

namespace encore::pretrained {
namespace {

using Names = std::vector<std::string>;

Names bart_tensors_of(const std::string& path) {
  Names names;
  for (const FamilyTensor& tensor : bart_family.tensors_of(path, PretrainedHead::language_model))
    names.push_back(tensor.name);
  return names;
}

TEST(BartNames, OfBothStacks) {
  EXPECT_EQ(bart_tensors_of("embedding.tokens"), Names{"model.shared.weight"});
  EXPECT_EQ(bart_tensors_of("embedding.positions"), Names{"model.encoder.embed_positions.weight"});
  EXPECT_EQ(bart_tensors_of("decoder.embedding.positions"), Names{"model.decoder.embed_positions.weight"});
  EXPECT_EQ(bart_tensors_of("embedding.norm.gain"), Names{"model.encoder.layernorm_embedding.weight"});
  EXPECT_EQ(bart_tensors_of("decoder.embedding.norm.bias"), Names{"model.decoder.layernorm_embedding.bias"});
  EXPECT_EQ(bart_tensors_of("encoder.3.attention.qkv.weight"),
            (Names{"model.encoder.layers.3.self_attn.q_proj.weight",
                   "model.encoder.layers.3.self_attn.k_proj.weight",
                   "model.encoder.layers.3.self_attn.v_proj.weight"}));
  EXPECT_EQ(bart_tensors_of("decoder.0.cross.q.bias"),
            Names{"model.decoder.layers.0.encoder_attn.q_proj.bias"});
  EXPECT_EQ(bart_tensors_of("decoder.0.cross.kv.bias"),
            (Names{"model.decoder.layers.0.encoder_attn.k_proj.bias",
                   "model.decoder.layers.0.encoder_attn.v_proj.bias"}));
  EXPECT_EQ(bart_tensors_of("decoder.11.cross.norm.gain"),
            Names{"model.decoder.layers.11.encoder_attn_layer_norm.weight"});
  EXPECT_EQ(bart_tensors_of("encoder.0.feed_forward.up.weight"), Names{"model.encoder.layers.0.fc1.weight"});
  EXPECT_EQ(bart_tensors_of("decoder.0.feed_forward.norm.gain"),
            Names{"model.decoder.layers.0.final_layer_norm.weight"});
  EXPECT_EQ(bart_tensors_of("head.bias"), Names{"final_logits_bias"});
  EXPECT_TRUE(bart_family.tensors_of("head.bias", PretrainedHead::language_model).front().one_row);
  for (const char* path : {"head.weight", "encoder.", "encoder.x.attention.out.bias", "encoder.3",
                           "encoder.0.attention.qkv.gains", "encoder.norm.gain", "embedding.segments",
                           "decoder.embedding.tokens", ""})
    EXPECT_TRUE(bart_tensors_of(path).empty()) << path;
}

TEST(BartNames, OfTheBodyAloneHaveNoPrefix) {
  EXPECT_EQ(bart_family.first_spelling("decoder.layers.0.fc1.bias"), "model.decoder.layers.0.fc1.bias");
  EXPECT_EQ(bart_family.first_spelling("final_logits_bias"), "final_logits_bias");
  EXPECT_TRUE(bart_family.is_of_body("model.decoder.layers.0.fc1.bias"));
  EXPECT_FALSE(bart_family.is_of_body("model.encoder.embed_tokens.weight"));
  EXPECT_TRUE(bart_family.is_buffer("lm_head.weight"));
  EXPECT_FALSE(bart_family.is_buffer("final_logits_bias"));
}

TEST(BartNames, TheTableOfTokensMayHaveTheNameOfAPartThatUsesIt) {
  const FolderNames names(bart_family, {"encoder.embed_tokens.weight", "encoder.embed_positions.weight"});
  EXPECT_EQ(names.tensors_of("embedding.tokens", PretrainedHead::none).front().name,
            "encoder.embed_tokens.weight");
}

}  // namespace
}  // namespace encore::pretrained
