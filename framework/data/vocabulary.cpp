// See vocabulary.hpp.
#include "data/vocabulary.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "config/json_text.hpp"
#include "data/file.hpp"
#include "data/utf8.hpp"

namespace encore {

namespace {

/// The pieces by their numbers, which must be 0, 1, 2 and so on.
class NumberedPieces {
 public:
  explicit NumberedPieces(const std::filesystem::path& path) : path_(path) {}

  void add(const std::string& piece, const nlohmann::json& number) {
    if (!number.is_number_integer() || number < 0)
      throw Error(path_.string() + ": the number of the piece \"" + piece + "\" is " + number.dump() +
                  "; it must be an integer from 0 on");
    const auto [known, inserted] = pieces_.emplace(number.get<std::uint64_t>(), piece);
    if (!inserted && known->second != piece)
      throw Error(path_.string() + ": the pieces \"" + known->second + "\" and \"" + piece +
                  "\" have one number, " + number.dump());
  }

  std::vector<std::string> take() const {
    std::vector<std::string> list;
    for (const auto& [number, piece] : pieces_) {
      if (number != list.size())
        throw Error(path_.string() + ": no piece has the number " + std::to_string(list.size()) +
                    ", and every number below " + std::to_string(pieces_.size()) +
                    " must be that of one piece");
      list.push_back(piece);
    }
    return list;
  }

 private:
  const std::filesystem::path& path_;
  std::map<std::uint64_t, std::string> pieces_;
};

/// tokenizer.json of the Python package tokenizers: pieces in model.vocab, and those that were added to it.
std::vector<std::string> pieces_of_tokenizer_json(const std::filesystem::path& path, std::string_view text) {
  nlohmann::json json;
  try {
    json = parse_json(text);
  } catch (const JsonError& error) {
    throw Error(path.string() + ": " + error.what());
  }
  const nlohmann::json model = json.is_object() ? json.value("model", nlohmann::json()) : nlohmann::json();
  if (!model.is_object() || !model.contains("vocab") || !model.at("vocab").is_object())
    throw Error(path.string() + ": there is no object \"vocab\" in \"model\", which holds the pieces");
  NumberedPieces pieces(path);
  for (const auto& [piece, number] : model.at("vocab").items()) pieces.add(piece, number);
  if (const auto added = json.find("added_tokens"); added != json.end() && added->is_array())
    for (const nlohmann::json& token : *added)
      if (token.is_object() && token.contains("content") && token.at("content").is_string())
        pieces.add(token.at("content").get<std::string>(), token.value("id", nlohmann::json()));
  return pieces.take();
}

void require_unknown_piece(const std::filesystem::path& path, bool has_it) {
  if (!has_it)
    throw Error(path.string() +
                ": the vocabulary has no [UNK]; add a line [UNK], the piece for words it cannot build");
}

}  // namespace

std::vector<std::string> load_vocabulary(const std::filesystem::path& path) {
  const std::string bytes = load_text(path, "vocabulary");
  const std::string_view text = without_byte_order_mark(bytes);
  if (path.extension() == ".json") {
    std::vector<std::string> pieces = pieces_of_tokenizer_json(path, text);
    require_unknown_piece(path, std::ranges::find(pieces, "[UNK]") != pieces.end());
    return pieces;
  }
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
  require_unknown_piece(path, lines.contains("[UNK]"));
  return pieces;
}

std::string vocabulary_text(std::span<const std::string> pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece + '\n';
  return text;
}

}  // namespace encore
