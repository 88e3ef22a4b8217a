// Vocabulary files: one piece per line, its number is the line's number from 0; behind the pieces the merges
// of a byte-pair encoding may stand, where the order of the pieces does not say them. Or tokenizer.json or
// vocab.json of a Hugging Face folder, known by the extension; the merges of vocab.json are in the file
// merges.txt beside it.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace encore {

inline constexpr const char* merges_file = "merges.txt";
/// The line between pieces and merges, which is the first one of a merges.txt.
inline constexpr const char* merges_header = "#version: 0.2";

/// The lines of a vocabulary file, as Tokenizer::load takes them. Throws Error naming file and line: missing
/// or unreadable, not UTF-8, an empty line, a piece that stands twice, no `[UNK]` or piece in its place. What
/// else a tokenizer needs, Tokenizer::load checks.
std::vector<std::string> load_vocabulary(const std::filesystem::path& path);

/// How many of the lines are pieces.
std::size_t piece_count(std::span<const std::string> lines);

/// The content of a vocabulary file.
std::string vocabulary_text(std::span<const std::string> lines);

}  // namespace encore
