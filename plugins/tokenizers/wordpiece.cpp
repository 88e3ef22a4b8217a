// SPDX-License-Identifier: BSD-3-Clause
// WordPiece: finds special and added tokens, splits the rest of a text into words, and cuts each word into
// the longest tokens from the left. plugin.cpp registers it. Tasks call it through Tokenizer
// (encore/tokenizer.hpp); its tokens must stay those of the package `tokenizers`. Read wordpiece.hpp first.
#include "wordpiece.hpp"

#include <algorithm>
#include <utility>

namespace encore::wordpiece {
namespace {

/// The most characters of a word that is cut into tokens; BERT makes longer words unknown.
constexpr std::ptrdiff_t longest_word = 100;  // characters

bool is_continuation(std::string_view token) {
  return token.starts_with("##") && token.size() > 2;
}

std::ptrdiff_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace

Schema WordPiece::options() {
  Schema schema =
      tokenizers::vocabulary_schema(2, "merge only pairs of tokens that occur at least this often");
  schema.boolean(
      "lowercase", false,
      {.help = "convert letters to lower case and drop accents, as uncased BERT vocabularies expect"});
  schema.optional("strip_accents", OptionType::boolean,
                  {.help = "drop the accents of letters; default: the value of lowercase"});
  schema.boolean("tokenize_chinese_chars", true, {.help = "treat each Chinese character as a word"});
  schema.boolean(
      "fold_lookalikes", false,
      {.help = "replace letters that look like a Latin one by it, such as a Cyrillic o, against words that "
               "are disguised; for text in Latin script"});
  return tokenizers::AddedTokens::add_option(schema);
}

WordPiece::WordPiece(const Options& options, const TokenizerContext&)
    : training_(tokenizers::training_of(options)),
      text_({.lowercase = options.flag("lowercase"),
             .strip_accents = options.flag(options.has("strip_accents") ? "strip_accents" : "lowercase"),
             .separate_ideographs = options.flag("tokenize_chinese_chars"),
             .fold_lookalikes = options.flag("fold_lookalikes")}),
      added_(options) {}

void WordPiece::load(std::vector<std::string> vocabulary) {
  table_ = tokenizers::TokenTable(std::move(vocabulary), "WordPiece");
  std::vector<tokenizers::AddedToken> specials;
  for (const std::string& token : special_tokens()) specials.push_back({.content = token, .special = true});
  added_.load(table_, specials, [this](const std::string& text) {
    NormalizedText normalized;
    text_.normalize(text, normalized);
    return normalized.text;
  });
  TokenTrie starts, continuations;
  for (std::size_t i = 0; i < table_.tokens().size(); ++i) {
    const std::string_view token = table_.tokens()[i];
    const auto number = static_cast<std::int32_t>(i);
    if (added_.is_outside(number)) continue;
    if (is_continuation(token))
      continuations.add(token.substr(2), number);
    else
      starts.add(token, number);
  }
  starts_ = std::move(starts);
  continuations_ = std::move(continuations);
}

void WordPiece::train(const TextCounts& texts) {
  tokenizers::require_training(training_);
  TextCounts counts;
  SplitText split;
  for (const auto& [text, count] : texts) {
    text_.split(text, split);
    for (std::size_t i = 0; i < split.size(); ++i) counts[std::string(split.word(i))] += count;
  }
  load(train_vocabulary(counts, training_));
}

void WordPiece::append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                              std::vector<ByteRange>* ranges) const {
  const Output out{.tokens = tokens, .ranges = ranges};
  tokenizers::split_at_tokens(
      added_.raw(), text, [&](std::size_t begin, std::size_t end) { append_part(text, begin, end, out); },
      [&](const tokenizers::TokenFinder::Match& match) {
        tokens.push_back(match.token->number);
        if (ranges != nullptr) ranges->push_back({match.first, match.behind});
      });
}

std::string WordPiece::decode(std::span<const std::int32_t> tokens) const {
  std::string text;
  for (const std::int32_t number : tokens) {
    const tokenizers::AddedToken* added = added_.find(number);
    if (table_.is_special(number) || (added != nullptr && added->special)) continue;
    const std::string& token = table_.token(number);
    if (added == nullptr && is_continuation(token))
      text += std::string_view(token).substr(2);
    else
      text += (text.empty() ? "" : " ") + token;
  }
  return text;
}

void WordPiece::append_part(std::string_view text, std::size_t begin, std::size_t end, Output out) const {
  if (!added_.normalized().empty()) return append_normalized(text, begin, end, out);
  thread_local SplitText split;  // encode is const and called from several threads
  text_.split(text.substr(begin, end - begin), split, out.ranges != nullptr);
  for (std::size_t i = 0; i < split.size(); ++i) append_word(split, i, begin, out);
}

void WordPiece::append_normalized(std::string_view text, std::size_t begin, std::size_t end,
                                  Output out) const {
  thread_local SplitText split;
  thread_local NormalizedText normalized;
  text_.normalize(text.substr(begin, end - begin), normalized);
  tokenizers::split_at_tokens(
      added_.normalized(), normalized.text,
      [&](std::size_t from, std::size_t to) {
        text_.split_normalized(normalized, from, to, split);
        for (std::size_t i = 0; i < split.size(); ++i) append_word(split, i, begin, out);
      },
      [&](const tokenizers::TokenFinder::Match& match) {
        out.tokens.push_back(match.token->number);
        if (out.ranges != nullptr)
          out.ranges->push_back({begin + normalized.sources[match.first].begin,
                                 begin + normalized.sources[match.behind - 1].end});
      });
}

void WordPiece::append_word(const SplitText& split, std::size_t word, std::size_t begin, Output out) const {
  const std::string_view text = split.word(word);
  const std::size_t before = out.tokens.size();
  bool known =
      static_cast<std::ptrdiff_t>(text.size()) <= longest_word || count_characters(text) <= longest_word;
  for (std::string_view rest = text; known && !rest.empty();) {
    const TokenTrie::Match match =
        (rest.size() == text.size() ? starts_ : continuations_).longest_prefix(rest);
    known = match.token != TokenTrie::no_token;
    if (known) out.tokens.push_back(match.token);
    rest.remove_prefix(match.length);
  }
  if (!known) {
    out.tokens.resize(before);
    out.tokens.push_back(table_.unknown());
  }
  if (out.ranges == nullptr) return;
  for (std::size_t i = before, from = 0, to = 0; i < out.tokens.size(); ++i, from = to) {
    const std::size_t mark = i > before ? 2 : 0;  // the bytes of "##"
    to = known ? from + table_.token(out.tokens[i]).size() - mark : text.size();
    const ByteRange range = split.range(word, from, to);
    out.ranges->push_back({begin + range.begin, begin + range.end});
  }
}

}  // namespace encore::wordpiece
