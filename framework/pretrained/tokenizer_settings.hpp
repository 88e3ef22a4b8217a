// SPDX-License-Identifier: BSD-3-Clause
// tokenizer_settings(): what the files of a folder say about its tokenizer beyond its tokens, checked against
// what the tokenizers of Encore compute: its class, how a text is normalized and cut, its markers, and its
// added tokens. Place in the flow: folder_settings.cpp calls it before a run is planned; a planned run has
// the results as options and is not checked again.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "pretrained/hugging_face_folder.hpp"

namespace encore::pretrained {

/// Our tokenizer of SentencePiece.
inline constexpr const char* unigram_tokenizer = "unigram";

/// The files of a tokenizer as JSON; empty objects if a file is missing.
struct TokenizerJson {
  std::filesystem::path folder;
  nlohmann::json config;           ///< tokenizer_config.json
  nlohmann::json whole;            ///< tokenizer.json
  nlohmann::json specials;         ///< special_tokens_map.json
  nlohmann::json added;            ///< added_tokens.json
  std::vector<std::string> lines;  ///< of the vocabulary

  std::filesystem::path file(const char* name) const { return folder / name; }
  std::span<const std::string> tokens() const;
  /// Returns the number of a token, or nothing if the vocabulary does not have it.
  std::optional<std::int64_t> number_of(const std::string& token) const;
};

/// The tokens with a role: "[CLS]"; "" if the tokenizer has none.
struct RoleTokens {
  std::string padding, unknown, start, end, separator, mask;
};
RoleTokens role_tokens(const HuggingFaceFolder& folder, const TokenizerJson& files);

/// Throws Error that names file and member if the tokenizer is not one of ours, or its files disagree.
std::vector<FolderOption> tokenizer_settings(const HuggingFaceFolder& folder, const TokenizerJson& files);

/// Returns the option added_tokens if the folder has tokens that Encore's tokenizer does not find by itself,
/// otherwise nothing. Throws Error if a token has no row in the table of tokens, or cannot be found here.
std::optional<FolderOption> added_tokens_option(const HuggingFaceFolder& folder, const TokenizerJson& files,
                                                const RoleTokens& roles);

/// Compares two copies of the SentencePiece model of a T5. T5Tokenizer of `transformers` takes tokens, scores
/// and normalization from tokenizer.json if it exists, but this program cuts by spiece.model, so the two must
/// be one model. `model` is spiece.model, whose lines `files` has. Throws Error that names the difference.
void require_same_sentencepiece(const TokenizerJson& files, const std::filesystem::path& model);

}  // namespace encore::pretrained
