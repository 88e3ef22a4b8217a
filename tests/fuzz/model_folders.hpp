// Small folders as `transformers` writes them, one or two of each family, as starting points of mutations.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace encore::fuzz {

/// The content of each file by its path in the folder, without weights.
using FolderFiles = std::map<std::string, std::string>;

/// By a name: "bert", "bert_whole" (its tokens are in tokenizer.json alone). `exp import` takes each of them.
const std::map<std::string, FolderFiles>& model_folders();

/// The tokens of a byte-level vocabulary: these markers, all bytes, and those that byte_merges makes.
std::vector<std::string> byte_tokens(std::vector<std::string> markers);
inline const std::string byte_merges = "#version: 0.2\nl o\nlo w\n\u0120 low\ne r\n";

/// A small model of SentencePiece, and its tokens: "plain", or "bytes" with a token for each byte.
struct SentencePieceFile {
  std::string bytes;
  std::vector<std::string> tokens;
};
SentencePieceFile sentencepiece_file(const std::string& name);

}  // namespace encore::fuzz
