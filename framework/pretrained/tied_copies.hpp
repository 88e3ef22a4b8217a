// Copies of a table in model.safetensors. Where config.json says that logits come from the table of pieces, a
// file may have the table under two names; with different values nobody knows which one is meant: newer
// versions of `transformers` take both apart, older ones the table.
#pragma once

#include <cstdint>
#include <filesystem>

#include "pretrained/family.hpp"

namespace encore {

enum class CopiesOf : std::uint8_t {
  table,             ///< embed_tokens and lm_head of models that write texts
  table_and_output,  ///< likewise, and a matrix of the logits that a T5 may have of its own
  logits,            ///< matrix and bias of a head for masked words
};

/// Throws Error naming two tensors that should be equal and are not.
void require_equal_copies(const std::filesystem::path& folder, const Family& family, CopiesOf which);

}  // namespace encore
