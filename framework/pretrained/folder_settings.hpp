// SPDX-License-Identifier: BSD-3-Clause
// FolderSettings: what a Hugging Face folder says beside the shape of its model, as options of an experiment.
// Everything in its files is honoured, refused by name, or named in a notice (field_rules.hpp). Place in the
// flow: FolderFiller and `exp import` call settings_of() when a run is planned. A run that was planned
// without such an option must behave as before.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pretrained/family.hpp"
#include "pretrained/hugging_face_folder.hpp"

namespace encore::pretrained {

struct FolderSettings {
  /// An option of [tokenizer], [model.head] or [data]. `head` says in which experiments it counts.
  struct Option {
    FolderOption option;
    std::string head;  ///< only where model.head.type is this one; empty: always
  };
  std::vector<Option> options;
  std::int64_t max_length = 0;       ///< of an input, in tokens, with its markers
  std::vector<std::string> notices;  ///< what is not taken over, one sentence each
};

/// Returns the settings. Throws Error that names file and member if one asks for something that this program
/// does not compute.
FolderSettings settings_of(const HuggingFaceFolder& folder);

/// Which tensors of model.safetensors may be copies of one another. If config.json says that logits come from
/// the table of tokens, a file may have the table under two names. With different values the meaning is
/// unclear: newer versions of `transformers` keep the two apart, older ones take the table.
enum class CopiesOf : std::uint8_t {
  table,             ///< embed_tokens and lm_head of models that generate
  table_and_output,  ///< likewise, and a matrix of the logits that a T5 may have of its own
  logits,            ///< matrix and bias of a head for masked words
};

/// Throws Error that names two tensors that should be equal and are not.
void require_equal_copies(const std::filesystem::path& folder, const Family& family, CopiesOf which);

}  // namespace encore::pretrained
