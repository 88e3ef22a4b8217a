// Vocabulary files: one piece per line, its number is the line's number from 0; or tokenizer.json of a
// Hugging Face folder, known by its extension.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace encore {

/// Throws Error naming file and line: missing or unreadable, not UTF-8, an empty line, a piece that stands
/// twice, no `[UNK]`. What else a tokenizer needs, Tokenizer::load checks.
std::vector<std::string> load_vocabulary(const std::filesystem::path& path);

/// The content of a vocabulary file.
std::string vocabulary_text(std::span<const std::string> pieces);

}  // namespace encore
