// See wordpiece.hpp.
#include "wordpiece.hpp"

#include <algorithm>
#include <utility>

#include "wordpiece_trainer.hpp"

namespace encore::wordpiece {
namespace {

/// BERT takes longer words for noise and does not cut them.
constexpr std::ptrdiff_t longest_word = 100;  // characters

std::ptrdiff_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace

Schema WordPiece::options() {
  return tokenizers::vocabulary_schema(2, "merge only pairs that stand at least this often")
      .boolean("lowercase", false,
               {.help = "lower the text and drop accents, as uncased BERT vocabularies expect"});
}

WordPiece::WordPiece(const Options& options, const TokenizerContext&)
    : training_(tokenizers::training_of(options)), text_(options.flag("lowercase")) {}

void WordPiece::load(std::vector<std::string> vocabulary) {
  table_ = tokenizers::PieceTable(std::move(vocabulary), "WordPiece");
  PieceTrie starts, continuations;
  for (std::size_t i = 0; i < table_.pieces().size(); ++i) {
    const std::string_view piece = table_.pieces()[i];
    const auto number = static_cast<std::int32_t>(i);
    if (piece.starts_with("##") && piece.size() > 2)
      continuations.add(piece.substr(2), number);
    else
      starts.add(piece, number);
  }
  specials_.clear();
  for (const std::string& piece : special_pieces())
    if (const std::int32_t number = table_.find(piece); number != tokenizers::PieceTable::no_piece)
      specials_.push_back({piece, number});
  starts_ = std::move(starts);
  continuations_ = std::move(continuations);
}

void WordPiece::train(const std::map<std::string, std::int64_t>& words) {
  tokenizers::require_training(training_);
  std::map<std::string, std::int64_t> counts;
  SplitText split;
  for (const auto& [word, count] : words) {
    text_.split(word, split);
    for (std::size_t i = 0; i < split.size(); ++i) counts[std::string(split.word(i))] += count;
  }
  load(train_vocabulary(counts, training_));
}

void WordPiece::encode(std::string_view text, std::vector<std::int32_t>& pieces) const {
  std::size_t plain = 0;
  for (std::size_t at = text.find('['); at != std::string_view::npos;) {
    const NamedPiece* special = special_at(text.substr(at));
    if (special == nullptr) {
      at = text.find('[', at + 1);
      continue;
    }
    encode_plain(text.substr(plain, at - plain), pieces);
    pieces.push_back(special->number);
    plain = at + special->text.size();
    at = text.find('[', plain);
  }
  encode_plain(text.substr(plain), pieces);
}

const WordPiece::NamedPiece* WordPiece::special_at(std::string_view text) const {
  for (const NamedPiece& special : specials_)
    if (text.starts_with(special.text)) return &special;
  return nullptr;
}

void WordPiece::encode_plain(std::string_view text, std::vector<std::int32_t>& pieces) const {
  if (text.empty()) return;
  thread_local SplitText split;  // encode is const and called from several threads
  text_.split(text, split);
  for (std::size_t i = 0; i < split.size(); ++i) encode_word(split.word(i), pieces);
}

void WordPiece::encode_word(std::string_view word, std::vector<std::int32_t>& pieces) const {
  const std::size_t before = pieces.size();
  bool known =
      static_cast<std::ptrdiff_t>(word.size()) <= longest_word || count_characters(word) <= longest_word;
  for (std::string_view rest = word; known && !rest.empty();) {
    const PieceTrie::Match match =
        (rest.size() == word.size() ? starts_ : continuations_).longest_prefix(rest);
    known = match.piece != PieceTrie::no_piece;
    if (known) pieces.push_back(match.piece);
    rest.remove_prefix(match.length);
  }
  if (known) return;
  pieces.resize(before);
  pieces.push_back(special().unknown);
}

}  // namespace encore::wordpiece
