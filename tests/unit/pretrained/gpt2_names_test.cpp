// SPDX-License-Identifier: BSD-3-Clause
// Tests the names of GPT-2's tensors in a model.safetensors (gpt2_family, pretrained/family.hpp): which
// tensor each parameter is read from and written to. The names are those of `transformers`, so they are
// fixed.
#include <gtest/gtest.h>

#include "pretrained/family.hpp"

namespace encore::pretrained {
namespace {

FamilyTensor gpt2_tensor_of(const std::string& path) {
  const std::vector<FamilyTensor> tensors = gpt2_family.tensors_of(path, PretrainedHead::language_model);
  return tensors.empty() ? FamilyTensor{} : tensors.front();
}

TEST(Gpt2Names, EmbeddingAndBlocks) {
  EXPECT_EQ(gpt2_tensor_of("embedding.tokens").name, "transformer.wte.weight");
  EXPECT_EQ(gpt2_tensor_of("embedding.positions").name, "transformer.wpe.weight");
  EXPECT_EQ(gpt2_tensor_of("encoder.norm.bias").name, "transformer.ln_f.bias");
  EXPECT_EQ(gpt2_tensor_of("encoder.11.attention.qkv.weight").name, "transformer.h.11.attn.c_attn.weight");
  EXPECT_EQ(gpt2_tensor_of("encoder.0.attention.norm.gain").name, "transformer.h.0.ln_1.weight");
  EXPECT_EQ(gpt2_tensor_of("encoder.0.feed_forward.norm.bias").name, "transformer.h.0.ln_2.bias");
  for (const char* matrix : {"attention.qkv", "attention.out", "feed_forward.up", "feed_forward.down"}) {
    EXPECT_TRUE(gpt2_tensor_of("encoder.2." + std::string(matrix) + ".weight").transposed) << matrix;
    EXPECT_FALSE(gpt2_tensor_of("encoder.2." + std::string(matrix) + ".bias").transposed) << matrix;
  }
  for (const char* path : {"head.bias", "encoder.", "encoder.x.attention.qkv.bias", "encoder.3", "encoder.3.",
                           "decoder.0.attention.out.bias", "embedding.segments", ""})
    EXPECT_TRUE(gpt2_tensor_of(path).name.empty()) << path;
}

TEST(Gpt2Names, OfTheBodyAloneHaveNoPrefix) {
  EXPECT_EQ(gpt2_family.first_spelling("h.0.attn.c_attn.bias"), "transformer.h.0.attn.c_attn.bias");
  EXPECT_EQ(gpt2_family.first_spelling("transformer.wte.weight"), "transformer.wte.weight");
  EXPECT_EQ(gpt2_family.first_spelling("score.weight"), "score.weight");
  EXPECT_TRUE(gpt2_family.is_of_body("transformer.h.0.attn.c_attn.bias"));
  EXPECT_FALSE(gpt2_family.is_of_body("transformer.h.0.attn.bias"));
  EXPECT_TRUE(gpt2_family.is_buffer("lm_head.weight"));
  EXPECT_FALSE(gpt2_family.is_of_body("score.weight"));
}

}  // namespace
}  // namespace encore::pretrained
