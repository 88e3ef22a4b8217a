// SPDX-License-Identifier: BSD-3-Clause
// Small folders of pretrained models as `transformers` writes them, one or two of each family: the unchanged
// inputs from which pretrained_target.cpp and tokenizer_target.cpp begin their mutations. A new family of
// framework/pretrained gets a folder here.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace encore::fuzz {

/// The content of each file by its path in the folder, without weights.
using FolderFiles = std::map<std::string, std::string>;

/// Returns all folders by name: "bert", "bert_whole" (its tokens are in tokenizer.json alone) and so on.
/// `exp import` accepts each of them.
const std::map<std::string, FolderFiles>& model_folders();

/// Returns the tokens of a byte-level vocabulary: these markers, all bytes, and those that byte_merges makes.
std::vector<std::string> byte_tokens(std::vector<std::string> markers);
inline const std::string byte_merges = "#version: 0.2\nl o\nlo w\n\u0120 low\ne r\n";

/// A small model of SentencePiece, and its tokens: "plain", or "bytes" with a token for each byte.
struct SentencePieceFile {
  std::string bytes;                ///< content of the model file
  std::vector<std::string> tokens;  ///< in the order of their numbers
};
SentencePieceFile sentencepiece_file(const std::string& name);

}  // namespace encore::fuzz
