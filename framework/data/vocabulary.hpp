// Vocabulary files: one piece per line, its number is the line's number from 0.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace encore {

/// Throws Error naming file and line: missing or unreadable, not UTF-8, an empty line, a piece that stands
/// twice, no
/// `[UNK]`. What else a tokenizer needs, Tokenizer::load checks.
std::vector<std::string> load_vocabulary(const std::filesystem::path& path);

void save_vocabulary(const std::filesystem::path& path, const std::vector<std::string>& pieces);

}  // namespace encore
