// SPDX-License-Identifier: BSD-3-Clause
// Reads vocabulary files for tokenizers. A file has one token per line; its number is the line's number from
// 0. After the tokens follow a header line and the merges of a byte-pair encoding, or models of
// SentencePiece. If sources and targets have vocabularies of their own, a run's file has the lines of both
// (load_two_vocabularies). By its extension it may also be tokenizer.json or vocab.json of a Hugging Face
// folder (with merges.txt, or source.spm and target.spm, in the same folder), or a SentencePiece model
// (.model, .spm). spiece.model of a T5 gets also the gap tokens and unused rows that config.json (vocab_size)
// and tokenizer_config.json (extra_ids) in the same folder add. infer/setup.cpp calls load_vocabulary()
// before a training; a run's folder keeps the lines, headers included, as vocab.txt. Trained weights depend
// on the order of the tokens, so the order that load_vocabulary() returns must never change.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore::data {

inline constexpr const char* vocab_json_file = "vocab.json";
inline constexpr const char* merges_file = "merges.txt";
/// The line between tokens and merges, which is the first line of a merges.txt.
inline constexpr const char* merges_header = "#version: 0.2";

inline constexpr const char* source_model_file = "source.spm";
inline constexpr const char* target_model_file = "target.spm";
inline constexpr const char* t5_model_file = "spiece.model";
/// The member of tokenizer_config.json with the number of tokens "<extra_id_N>", which mark gaps in a text.
inline constexpr const char* extra_ids_name = "extra_ids";
inline constexpr const char* gap_token_beginning = "<extra_id_";
/// The line between tokens and models of SentencePiece. Each model is a line: a name, a blank, and the file
/// in base64. "model" cuts every text, or "source" and "target" cut those of the two sides.
inline constexpr const char* sentencepiece_header = "#sentencepiece";
/// The line between the lines of sources and those of targets. No token has blanks in this way.
inline constexpr const char* targets_header = "#vocabulary of targets";

/// Returns the lines of a vocabulary file with their header, as Tokenizer::load takes them. A training, a
/// plan of its size, and the check of a Hugging Face folder call it. Throws Error naming file and line:
/// missing or unreadable, not UTF-8, an empty line, a duplicate token, no unknown token such as `[UNK]`.
/// Tokenizer::load checks what else a tokenizer needs.
std::vector<std::string> load_vocabulary(const std::filesystem::path& path);

/// Returns the lines of sources and those of targets in the file of a run. Throws Error as load_vocabulary()
/// does, and if the file has one vocabulary.
std::pair<std::vector<std::string>, std::vector<std::string>> load_two_vocabularies(
    const std::filesystem::path& path);

/// Returns the names of the files beside it that load_vocabulary() also reads: bundles pack them, and the
/// hash of the vocabulary covers them.
std::vector<std::string> files_beside_vocabulary(const std::filesystem::path& path);

/// Returns how many of the lines are tokens.
std::size_t token_count(std::span<const std::string> lines);

/// Returns the bytes of the SentencePiece model with this name, decoded from base64; empty if there is none.
std::string sentencepiece_model(std::span<const std::string> lines, const std::string& name);

/// Returns the content of a vocabulary file with these lines, which training and export write.
std::string vocabulary_text(std::span<const std::string> lines);

// --- tokens of a SentencePiece model (sentencepiece_tokens.cpp), read without its library, which the control
// program does not link ---

/// Returns the tokens in the order of their numbers. Throws Error if `model` is not such a file.
std::vector<std::string> sentencepiece_tokens(std::string_view model);

/// What decides how a model cuts a text. pretrained/same_sentencepiece.cpp compares two models by it, because
/// equal models can have different bytes.
struct SentencepieceContents {
  std::vector<std::pair<std::string, float>> tokens;  ///< with their scores
  std::string charsmap;                               ///< normalizer_spec.precompiled_charsmap
};
/// Returns these contents of a model. Throws Error like sentencepiece_tokens().
SentencepieceContents sentencepiece_contents(std::string_view model);

}  // namespace encore::data
