// See wordpiece.hpp.
#include "wordpiece.hpp"

#include <algorithm>
#include <unordered_map>

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
  Schema schema;
  schema.optional("vocab", OptionType::path, {.help = "vocabulary file, one piece per line"});
  schema.optional("vocab_size", OptionType::integer,
                  {.help = "instead of vocab: train a vocabulary of this size from the training text",
                   .unit = "pieces",
                   .min = 16,
                   .max = 1000000});
  schema.integer("min_frequency", 2,
                 {.help = "with vocab_size: merge only pairs that stand at least this often", .min = 1});
  schema.boolean("lowercase", false,
                 {.help = "lower the text and drop accents, as uncased BERT vocabularies expect"});
  return schema;
}

WordPiece::WordPiece(const Options& options, const TokenizerContext&) : text_(options.flag("lowercase")) {
  if (options.has("vocab") == options.has("vocab_size"))
    throw OptionError("vocab",
                      options.has("vocab")
                          ? "vocab and vocab_size exclude each other: a vocabulary is read or trained"
                          : "a vocabulary is missing; give vocab = \"FILE\", or vocab_size to train one");
  if (options.has("vocab_size")) vocab_size_ = options.integer("vocab_size");
  min_frequency_ = options.integer("min_frequency");
}

void WordPiece::load(std::vector<std::string> vocabulary) {
  std::unordered_map<std::string_view, std::int32_t> numbers;
  PieceTrie starts, continuations;
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const std::string_view piece = vocabulary[i];
    const auto number = static_cast<std::int32_t>(i);
    if (piece.empty()) throw Error("piece " + std::to_string(i) + " of the vocabulary is empty");
    if (!numbers.emplace(piece, number).second)
      throw Error("the vocabulary holds the piece \"" + std::string(piece) + "\" twice");
    if (piece.starts_with("##") && piece.size() > 2)
      continuations.add(piece.substr(2), number);
    else
      starts.add(piece, number);
  }
  const auto required = [&](std::string_view piece) {
    const auto found = numbers.find(piece);
    if (found == numbers.end())
      throw Error("the vocabulary has no " + std::string(piece) +
                  "; a WordPiece vocabulary needs [PAD], [UNK], [CLS] and [SEP]");
    return found->second;
  };
  special_ = {required("[PAD]"), required("[UNK]"), required("[CLS]"), required("[SEP]")};
  specials_.clear();
  for (const std::string& piece : special_pieces())
    if (const auto found = numbers.find(piece); found != numbers.end())
      specials_.push_back({piece, found->second});
  starts_ = std::move(starts);
  continuations_ = std::move(continuations);
  vocabulary_ = std::move(vocabulary);
}

void WordPiece::train(const std::map<std::string, std::int64_t>& words) {
  if (vocab_size_ == 0)
    throw Error("this tokenizer reads its vocabulary from a file; give vocab_size to train one");
  std::map<std::string, std::int64_t> counts;
  SplitText split;
  for (const auto& [word, count] : words) {
    text_.split(word, split);
    for (std::size_t i = 0; i < split.size(); ++i) counts[std::string(split.word(i))] += count;
  }
  load(train_vocabulary(counts, {vocab_size_, min_frequency_}));
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
  pieces.push_back(special_.unknown);
}

}  // namespace encore::wordpiece
