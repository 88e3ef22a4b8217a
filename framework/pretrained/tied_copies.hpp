// SPDX-License-Identifier: BSD-3-Clause
// require_equal_copies(): checks copies of a table in model.safetensors; folder_settings.cpp calls it. If
// config.json says that logits come from the table of tokens, a file may have the table under two names. With
// different values the meaning is unclear: newer versions of `transformers` keep the two apart, older ones
// take the table.
#pragma once

#include <cstdint>
#include <filesystem>

#include "pretrained/family.hpp"

namespace encore::pretrained {

enum class CopiesOf : std::uint8_t {
  table,             ///< embed_tokens and lm_head of models that generate
  table_and_output,  ///< likewise, and a matrix of the logits that a T5 may have of its own
  logits,            ///< matrix and bias of a head for masked words
};

/// Throws Error that names two tensors that should be equal and are not.
void require_equal_copies(const std::filesystem::path& folder, const Family& family, CopiesOf which);

}  // namespace encore::pretrained
