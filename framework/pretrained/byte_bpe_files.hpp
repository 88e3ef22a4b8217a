// The files of a byte-level byte-pair encoding as RoBERTa folders have them: tokenizer.json, or vocab.json
// with the merges.txt beside it; read, and written for a tokenizer of ours. Place in the flow: as that of
// bert_tokenizer.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <encore/tokenizer.hpp>

#include "pretrained/bert_tokenizer.hpp"

namespace encore {

/// The type of tokenizer that cuts as RoBERTa and GPT-2 do.
inline constexpr const char* byte_bpe_tokenizer = "byte_bpe";

/// `folder` holds tokenizer.json or vocab.json. Throws Error naming the file where the tokenizer is another
/// one, lacks its merges, or cuts texts in a way that this program does not.
PretrainedTokenizer read_byte_bpe_tokenizer(const std::filesystem::path& folder);

/// Throws Error where config.json and the vocabulary name different pieces as padding.
void require_padding_piece(std::span<const std::string> lines, std::int64_t padding);

/// The content of vocab.json and of merges.txt. Of a vocabulary without merges, which is cut by the order of
/// its pieces, they are every way to put a piece together; `specials` are not made of others.
std::string vocab_json(std::span<const std::string> pieces);
std::string merges_text(std::span<const std::string> lines, std::span<const std::int32_t> specials);

/// The content of tokenizer_config.json; `special` has the spelling of each role, "" where there is none.
nlohmann::json byte_bpe_config_json(const std::string& tokenizer_class,
                                    const std::array<std::string, all_specials.size()>& special,
                                    bool add_prefix_space, std::int64_t max_length);

}  // namespace encore
