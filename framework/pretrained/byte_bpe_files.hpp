// SPDX-License-Identifier: BSD-3-Clause
// byte_bpe_files: the files of a byte-level byte-pair encoding as RoBERTa folders have them: tokenizer.json,
// or vocab.json with merges.txt beside it. This header has what other files need besides the constant in
// tokenizer_files.hpp: folder checks and the worker's export call these functions. Other programs read the
// files, so their content must not change.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace encore::pretrained {

/// The type of tokenizer that cuts as RoBERTa and GPT-2 do.
inline constexpr const char* byte_bpe_tokenizer = "byte_bpe";

/// Throws Error if config.json and the vocabulary name different tokens as padding.
void require_padding_token(std::span<const std::string> lines, std::int64_t padding);

/// Return the content of vocab.json and of merges.txt. A vocabulary without merges is cut by the order of its
/// tokens; its merges are all ways to join two tokens to a third. `specials` are not joined from others.
std::string vocab_json(std::span<const std::string> tokens);
std::string merges_text(std::span<const std::string> lines, std::span<const std::int32_t> specials);

}  // namespace encore::pretrained
