// SPDX-License-Identifier: BSD-3-Clause
// Unigram: finds the SentencePiece models in the lines of a vocabulary, and turns text into tokens and back
// with them. unigram_plugin.cpp registers it. Tasks call it through Tokenizer (encore/tokenizer.hpp); models
// were trained with these tokens, so equal text must give equal tokens. Read unigram.hpp first.
#include "unigram.hpp"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include <encore/base64.hpp>

#include "unknown_runs.hpp"

namespace encore::unigram {
namespace {

using tokenizers::TokenTable;

constexpr std::string_view word_mark = "▁";

/// Returns SentencePiece's names of special tokens. Models without a token for the beginning of a text (T5,
/// Marian) or without padding use another token for it.
tokenizers::SpecialNames special_names(std::span<const std::string> tokens) {
  const auto has = [&](std::string_view token) { return std::ranges::find(tokens, token) != tokens.end(); };
  const std::string_view padding = has("<pad>") ? "<pad>" : "</s>", start = has("<s>") ? "<s>" : padding;
  return {padding, "<unk>", start, "</s>", "</s>", "<mask>"};
}

constexpr std::string_view gap_beginning = "<extra_id_";
constexpr std::size_t longest_gap = gap_beginning.size() + 20;  // bytes of the longest gap: a number, and ">"

/// Returns the text with a blank for each word mark.
std::string with_blanks(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t mark = std::min(text.find(word_mark, at), text.size());
    result += text.substr(at, mark - at);
    if (mark < text.size()) result += ' ';
    at = mark + word_mark.size();
  }
  return result;
}

/// Returns the text without blanks at both ends.
std::string stripped(const std::string& text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// Returns the number of bytes of a code such as ">>de<<" at the beginning of a text; 0 without one.
std::size_t language_code(std::string_view text) {
  constexpr std::string_view closing = "<<";
  const std::size_t end = text.starts_with(">>") ? text.find(closing) : std::string_view::npos;
  return end == std::string_view::npos ? 0 : end + closing.size();
}

/// Returns whether the model makes one unknown token of the text, apart from the word mark.
bool is_one_unknown(const sentencepiece::SentencePieceProcessor& processor, const std::string& text) {
  const sentencepiece::ImmutableSentencePieceText cut = processor.EncodeAsImmutableProto(text);
  const int count = static_cast<int>(cut.pieces_size());
  if (count == 0 || count > 2 || (count == 2 && cut.pieces(0).piece() != word_mark)) return false;
  return processor.IsUnknown(static_cast<int>(cut.pieces(count - 1).id()));
}

}  // namespace

/// The tokenizer of targets, which uses the same vocabulary.
class Unigram::Targets final : public Tokenizer {
 public:
  explicit Targets(const Unigram& whole) : whole_(whole) {}
  void load(std::vector<std::string>) override { refuse(); }
  void train(const TextCounts&) override { refuse(); }
  std::span<const std::string> vocabulary() const override { return whole_.vocabulary(); }
  std::optional<std::int32_t> find(Special role) const override { return whole_.find(role); }
  std::string decode(std::span<const std::int32_t> tokens) const override { return whole_.decode(tokens); }

 private:
  [[noreturn]] static void refuse() { throw std::logic_error("the vocabulary is that of both sides"); }
  void append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                     std::vector<ByteRange>* ranges) const override {
    whole_.append(whole_.models_.back(), text, tokens, ranges);
  }

  const Unigram& whole_;
};

Schema Unigram::options() {
  Schema schema;
  schema.optional(
      "vocab", OptionType::path,
      {.help = "model file of SentencePiece (FILE.model or FILE.spm), or the vocabulary of a run; either "
               "vocab or vocab_size is required"});
  schema.optional("vocab_size", OptionType::integer,
                  {.help = "instead of vocab: train a model of this size on the training text",
                   .unit = "tokens",
                   .min = 16,
                   .max = 1000000});
  schema.number(
      "character_coverage", 0.9995,
      {.help =
           "with vocab_size: the most frequent characters, which make up this share of the training text, "
           "become tokens; rarer characters are unknown or, with byte_fallback, are encoded as bytes",
       .min = 0.98,  // as in the trainer of SentencePiece
       .max = 1.0});
  schema.boolean(
      "byte_fallback", false,
      {.help = "with vocab_size: add a token for each of the 256 bytes, so that no text is unknown"});
  return tokenizers::AddedTokens::add_option(schema);
}

Unigram::Unigram(const Options& options, const TokenizerContext&)
    : training_(training_of(options)), added_(options) {}

Unigram::~Unigram() = default;

std::vector<Unigram::Model> Unigram::models_in(std::span<const std::string> lines) {
  std::vector<Model> models;
  for (const std::string& line : lines) {
    const std::size_t blank = std::min(line.find(' '), line.size());
    Model model = {.name = line.substr(0, blank),
                   .file = from_base64(std::string_view(line).substr(std::min(blank + 1, line.size()))),
                   .processor = std::make_unique<sentencepiece::SentencePieceProcessor>(),
                   .numbers = {}};
    if (const auto status = model.processor->LoadFromSerializedProto(model.file); !status.ok())
      throw Error("the " + model.name +
                  " of the vocabulary is not a SentencePiece model: " + status.error_message());
    models.push_back(std::move(model));
  }
  const auto named = [&](std::vector<std::string> names) {
    return std::ranges::equal(models, names, {}, &Model::name);
  };
  if (!named({"model"}) && !named({"source", "target"}))
    throw Error(
        "invalid unigram vocabulary: expected one \"model\" behind the tokens, or a \"source\" and a "
        "\"target\"");
  return models;
}

void Unigram::load(std::vector<std::string> vocabulary) {
  const auto header = std::ranges::find(vocabulary, models_header);
  if (header == vocabulary.end())
    throw Error(
        "the vocabulary holds only tokens, but a unigram vocabulary needs a SentencePiece model, which "
        "decides "
        "how text is cut: give vocab = \"FILE.model\", or vocab_size to train one");
  std::vector<Model> models = models_in(std::vector<std::string>(std::next(header), vocabulary.end()));
  vocabulary.erase(header, vocabulary.end());
  const tokenizers::SpecialNames names = special_names(vocabulary);
  TokenTable table(std::move(vocabulary), "unigram", {&names, 1});
  for (Model& model : models)
    for (int i = 0; i < model.processor->GetPieceSize(); ++i) {
      const std::string& token = model.processor->IdToPiece(i);
      const std::int32_t number = table.find(token);
      if (models.size() == 1 && number != i)
        throw Error("token " + std::to_string(i) + " of the model is \"" + token +
                    "\", but the vocabulary has another one there: they belong to different files");
      model.numbers.push_back(number == TokenTable::no_token ? table.unknown() : number);
    }
  added_.load(table, {}, [](const std::string& text) { return text; });
  models_ = std::move(models);
  table_ = std::move(table);
  targets_ = has_sides() ? std::make_unique<Targets>(*this) : nullptr;
}

void Unigram::train(const TextCounts& texts) {
  const std::string file = train_model(texts, training_);
  sentencepiece::SentencePieceProcessor model;
  if (const auto status = model.LoadFromSerializedProto(file); !status.ok())
    throw Error(std::string("cannot load the trained model: ") + status.error_message());
  std::vector<std::string> lines;
  for (int i = 0; i < model.GetPieceSize(); ++i) lines.push_back(model.IdToPiece(i));
  lines.emplace_back(models_header);
  lines.push_back("model " + to_base64(file));
  load(std::move(lines));
}

std::vector<std::string> Unigram::vocabulary_lines() const {
  std::vector<std::string> lines(table_.tokens().begin(), table_.tokens().end());
  lines.emplace_back(models_header);
  for (const Model& model : models_) lines.push_back(model.name + " " + to_base64(model.file));
  return lines;
}

const Tokenizer& Unigram::target_tokenizer() const {
  if (targets_ != nullptr) return *targets_;
  return *this;
}

void Unigram::append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                            std::vector<ByteRange>* ranges) const {
  append(models_.front(), text, tokens, ranges);
}

void Unigram::append(const Model& model, std::string_view text, std::vector<std::int32_t>& tokens,
                     std::vector<ByteRange>* ranges) const {
  tokenizers::split_at_tokens(
      added_.raw(), text,
      [&](std::size_t begin, std::size_t end) {
        append_between_tokens(model, text.substr(begin, end - begin), begin, tokens, ranges);
      },
      [&](const tokenizers::TokenFinder::Match& match) {
        tokens.push_back(match.token->number);
        if (ranges != nullptr) ranges->push_back({match.first, match.behind});
      });
}

void Unigram::append_between_tokens(const Model& model, std::string_view text, std::size_t offset,
                                    std::vector<std::int32_t>& tokens, std::vector<ByteRange>* ranges) const {
  std::size_t done = 0;
  const auto add_whole = [&](std::int32_t token, std::size_t size) {
    tokens.push_back(token);
    if (ranges != nullptr) ranges->push_back({offset + done, offset + done + size});
    done += size;
  };
  if (const std::size_t code = has_sides() ? language_code(text) : 0; code > 0)
    add_whole(number_of_unknown(std::string(text.substr(0, code))), code);
  for (std::size_t at = done; (at = text.find(gap_beginning, at)) != std::string_view::npos;) {
    // The search ends after the longest possible name: "<extra_id_" may occur ten thousand times before the
    // first ">".
    const std::string_view name = text.substr(at, longest_gap);
    const std::size_t size = name.find('>') + 1;  // 0: not found
    const std::int32_t gap = size > 0 ? table_.find(name.substr(0, size)) : TokenTable::no_token;
    if (is_gap(gap)) {
      append_part(model, text.substr(done, at - done), offset + done, tokens, ranges);
      done = at;
      add_whole(gap, size);
      at = done;
    } else {
      at += gap_beginning.size();
    }
  }
  append_part(model, text.substr(done), offset + done, tokens, ranges);
}

bool Unigram::is_gap(std::int32_t number) const {
  return !has_sides() && number != TokenTable::no_token &&
         number >= models_.front().processor->GetPieceSize() &&
         table_.token(number).starts_with(gap_beginning);
}

void Unigram::append_part(const Model& model, std::string_view part, std::size_t offset,
                          std::vector<std::int32_t>& tokens, std::vector<ByteRange>* ranges) const {
  constexpr std::size_t always_short = 2000;  // bytes
  ShortText shortened;
  const bool is_long = part.size() > always_short;
  if (is_long)
    shortened = without_long_unknown_runs(
        part, [&](const std::string& text) { return is_one_unknown(*model.processor, text); });
  const sentencepiece::ImmutableSentencePieceText cut =
      model.processor->EncodeAsImmutableProto(is_long ? shortened.text : part);
  for (std::size_t i = 0; i < cut.pieces_size(); ++i) {
    const auto token = cut.pieces(static_cast<int>(i));
    const int number = static_cast<int>(token.id());
    tokens.push_back(model.processor->IsUnknown(number) ? number_of_unknown(token.piece())
                                                        : model.numbers.at(static_cast<std::size_t>(number)));
    if (ranges == nullptr) continue;
    const ByteRange range = shortened.whole({token.begin(), token.end()});
    ranges->push_back({offset + range.begin, offset + range.end});
  }
}

/// One of two models may lack a token that the other has.
std::int32_t Unigram::number_of_unknown(const std::string& text) const {
  const std::int32_t number = has_sides() ? table_.find(text) : TokenTable::no_token;
  return number == TokenTable::no_token || table_.is_special(number) ? table_.unknown() : number;
}

/// Returns the byte of a token like "<0xE4>", if it is such a token of a model.
std::optional<char> Unigram::byte_of(const std::string& token) const {
  const bool is_byte = token.size() == std::string_view("<0xE4>").size() && token.starts_with("<0x") &&
                       std::ranges::any_of(models_, [&](const Model& model) {
                         return model.processor->IsByte(model.processor->PieceToId(token));
                       });
  if (!is_byte) return std::nullopt;
  unsigned int byte = 0;
  std::from_chars(token.data() + 3, token.data() + 5, byte, 16);
  return static_cast<char>(byte);
}

std::string Unigram::decode(std::span<const std::int32_t> tokens) const {
  const Model& model = models_.back();
  std::vector<std::string> texts;
  bool has_bytes = false;
  for (const std::int32_t number : tokens) {
    const bool is_extra = !has_sides() && number >= model.processor->GetPieceSize();
    const tokenizers::AddedToken* added = added_.find(number);
    if (is_extra || table_.is_special(number) || (added != nullptr && added->special)) continue;
    texts.push_back(table_.token(number));
    has_bytes = has_bytes || byte_of(texts.back());
  }
  std::string text = has_bytes ? with_bytes(texts) : model.processor->DecodePieces(texts);
  if (!has_sides()) return text;
  text = with_blanks(text);  // tokens that only sources have come with their word mark
  // MarianTokenizer strips decoded text. Runs that were imported without `added_tokens` keep the blank.
  return added_.raw().empty() ? text : stripped(text);
}

/// The library decodes a character from its bytes only if all of them are together, and makes several
/// U+FFFD of others; so it decodes the other tokens, and bytes are copied as they are.
std::string Unigram::with_bytes(const std::vector<std::string>& tokens) const {
  const sentencepiece::ImmutableSentencePieceText decoded =
      models_.back().processor->DecodePiecesAsImmutableProto(tokens);
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (const std::optional<char> byte = byte_of(tokens[i]))
      text += *byte;
    else
      text += decoded.pieces(static_cast<int>(i)).surface();
  }
  return text;
}

}  // namespace encore::unigram
