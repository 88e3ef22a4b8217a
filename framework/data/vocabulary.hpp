// Vocabulary files: one piece per line, its number is the line's number from 0; behind the pieces stands what
// they do not say: the merges of a byte-pair encoding, or models of SentencePiece. Or, known by its
// extension, tokenizer.json or vocab.json of a Hugging Face folder, with merges.txt, or source.spm and
// target.spm, beside vocab.json; or a model of SentencePiece (.model, .spm), spiece.model with the pieces
// that the config.json of a T5 beside it adds.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace encore {

inline constexpr const char* vocab_json_file = "vocab.json";
inline constexpr const char* merges_file = "merges.txt";
/// The line between pieces and merges, which is the first one of a merges.txt.
inline constexpr const char* merges_header = "#version: 0.2";

inline constexpr const char* source_model_file = "source.spm";
inline constexpr const char* target_model_file = "target.spm";
inline constexpr const char* t5_model_file = "spiece.model";
/// Of tokenizer_config.json beside it: how many pieces "<extra_id_N>" mark gaps in a text.
inline constexpr const char* extra_ids_name = "extra_ids";
inline constexpr const char* gap_piece_beginning = "<extra_id_";
/// The line between pieces and models of SentencePiece, each of which is a line: a name, a blank, and the
/// file in base64. "model" cuts all texts, or "source" and "target" those of the two sides.
inline constexpr const char* sentencepiece_header = "#sentencepiece";

/// The lines of a vocabulary file, as Tokenizer::load takes them. Throws Error naming file and line: missing
/// or unreadable, not UTF-8, an empty line, a piece that stands twice, no `[UNK]` or piece in its place. What
/// else a tokenizer needs, Tokenizer::load checks.
std::vector<std::string> load_vocabulary(const std::filesystem::path& path);

/// The files beside it that load_vocabulary reads too, by name.
std::vector<std::string> files_beside_vocabulary(const std::filesystem::path& path);

/// How many of the lines are pieces.
std::size_t piece_count(std::span<const std::string> lines);

/// The file of a SentencePiece model that stands among the lines by that name; empty where there is none.
std::string sentencepiece_model(std::span<const std::string> lines, const std::string& name);

/// The content of a vocabulary file.
std::string vocabulary_text(std::span<const std::string> lines);

}  // namespace encore
