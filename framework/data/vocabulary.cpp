// See vocabulary.hpp.
#include "data/vocabulary.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include <encore/error.hpp>

#include "data/file.hpp"
#include "data/utf8.hpp"

namespace encore {

std::vector<std::string> load_vocabulary(const std::filesystem::path& path) {
  const std::string bytes = load_text(path, "vocabulary");
  const std::string_view text = without_byte_order_mark(bytes);
  std::vector<std::string> pieces;
  std::unordered_map<std::string_view, std::size_t> lines;
  const auto place = [&](std::size_t line) { return path.string() + ":" + std::to_string(line) + ": "; };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view piece = text.substr(at, end - at);
    if (piece.ends_with('\r')) piece.remove_suffix(1);
    at = end + 1;
    const std::size_t line = pieces.size() + 1;
    if (piece.empty()) throw Error(place(line) + "an empty line in a vocabulary; every line is one piece");
    const auto [first, inserted] = lines.emplace(piece, line);
    if (!inserted)
      throw Error(place(line) + "the piece \"" + std::string(piece) + "\" stands twice, first in line " +
                  std::to_string(first->second));
    pieces.emplace_back(piece);
  }
  if (!lines.contains("[UNK]"))
    throw Error(path.string() +
                ": the vocabulary has no [UNK]; add a line [UNK], the piece for words it cannot build");
  return pieces;
}

std::string vocabulary_text(std::span<const std::string> pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece + '\n';
  return text;
}

}  // namespace encore
