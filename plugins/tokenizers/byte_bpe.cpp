// SPDX-License-Identifier: BSD-3-Clause
// ByteBpe: splits text into words and merges neighbouring tokens in the order of the merges' ranks. Tasks
// call it through Tokenizer (encore/tokenizer.hpp) to encode and decode. Models were trained with these
// tokens, so equal text must always give equal tokens. byte_bpe_plugin.cpp registers it. Read byte_bpe.hpp
// first.
#include "byte_bpe.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>

#include <encore/token_cuts.hpp>

#include "merge_neighbours.hpp"

namespace encore::byte_bpe {
namespace {

using tokenizers::TokenTable;

/// Returns the bytes of each token; empty for the special tokens that every vocabulary has. An added token is
/// its own bytes.
std::vector<std::string> all_bytes_of(const TokenTable& table, const tokenizers::AddedTokens& added) {
  std::vector<std::string> all(table.tokens().size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (table.is_required(static_cast<std::int32_t>(i))) continue;
    if (added.is_outside(static_cast<std::int32_t>(i))) {
      all[i] = table.tokens()[i];
      continue;
    }
    std::optional<std::string> bytes = bytes_of(table.tokens()[i]);
    if (!bytes)
      throw Error(
          "invalid token \"" + table.tokens()[i] +
          "\": a character stands for no byte; a byte_bpe vocabulary is written in the alphabet of GPT-2");
    all[i] = std::move(*bytes);
  }
  return all;
}

/// The names of special tokens in vocabularies of RoBERTa and GPT-2.
constexpr tokenizers::SpecialNames other_names[] = {
    {"<pad>", "<unk>", "<s>", "</s>", "</s>", "<mask>"},
    {"<|endoftext|>", "<|endoftext|>", "<|endoftext|>", "<|endoftext|>", "<|endoftext|>", ""},
};

/// The merges with the token that each makes, in the order of their ranks.
struct Merges {
  PairTable ranks;
  std::vector<std::int32_t> made;

  /// Reads a merge such as "Ġt he".
  void add(std::string_view line, const TokenTable& table) {
    const auto refuse = [&](const std::string& problem) {
      throw Error("merge " + std::to_string(made.size() + 1) + " of the vocabulary, \"" + std::string(line) +
                  "\": " + problem);
    };
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos || blank == 0 || line.find(' ', blank + 1) != std::string_view::npos)
      refuse("expected two tokens with a blank between them");
    const auto token = [&](const std::string& text) {
      const std::int32_t number = table.find(text);
      if (number == TokenTable::no_token) refuse("the vocabulary has no token \"" + text + "\"");
      return number;
    };
    const std::string left(line.substr(0, blank)), right(line.substr(blank + 1));
    const std::int32_t first = token(left), second = token(right);
    if (ranks.find(first, second) != PairTable::missing) refuse("the same merge comes before it");
    ranks.add(first, second, static_cast<std::int32_t>(made.size()));
    made.push_back(token(left + right));
  }
};

/// Returns every way to join two tokens to a third, in the order of the results.
Merges merges_of(std::vector<std::string> all_bytes, const tokenizers::AddedTokens& added) {
  for (std::size_t i = 0; i < all_bytes.size(); ++i)  // merges do not make added tokens
    if (added.is_outside(static_cast<std::int32_t>(i))) all_bytes[i].clear();
  Merges merges;
  merges.made.resize(all_bytes.size());
  std::iota(merges.made.begin(), merges.made.end(), 0);
  for (const TokenCut& cut : cuts_of(all_bytes)) merges.ranks.add(cut.left, cut.right, cut.whole);
  return merges;
}

}  // namespace

Schema ByteBpe::options() {
  Schema schema = tokenizers::vocabulary_schema(
      2, "merge only pairs of tokens that occur at least this often",
      "one token per line, in the byte alphabet of GPT-2 (\"Ġthe\" is \" the\"). It needs the 256 bytes and "
      "the special tokens (usually [PAD], [UNK], [CLS] and [SEP]). After the tokens the file may have a line "
      "\"#version: 0.2\" and the merges, as in merges.txt; without merges the order of the tokens decides",
      "; byte_bpe needs at least 260");
  schema.boolean("add_prefix_space", true,
                 {.help = "put a blank in front of a text (and of each part behind an added token) that does "
                          "not begin with one, so that its first word gets the same tokens as elsewhere"});
  return tokenizers::AddedTokens::add_option(schema);
}

ByteBpe::ByteBpe(const Options& options, const TokenizerContext&)
    : training_(tokenizers::training_of(options)),
      add_prefix_space_(options.flag("add_prefix_space")),
      added_(options) {
  if (training_.vocab_size > 0 && training_.vocab_size < smallest_vocabulary)
    throw OptionError("vocab_size", "vocab_size = " + std::to_string(training_.vocab_size) +
                                        " is too small: 256 bytes and 4 special tokens already need " +
                                        std::to_string(smallest_vocabulary));
}

void ByteBpe::load(std::vector<std::string> vocabulary) {
  const auto header = std::find(vocabulary.begin(), vocabulary.end(), merges_header);
  const bool has_merges = header != vocabulary.end();
  const std::vector<std::string> lines(has_merges ? std::next(header) : header, vocabulary.end());
  vocabulary.erase(header, vocabulary.end());
  TokenTable table(std::move(vocabulary), "byte_bpe", other_names);
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const std::string token = printable(std::string(1, static_cast<char>(byte)));
    byte_numbers_[byte] = table.find(token);
    if (byte_numbers_[byte] == TokenTable::no_token)
      throw Error("the vocabulary has no token \"" + token + "\" for the byte " + std::to_string(byte) +
                  "; a byte_bpe vocabulary needs a token for each of the 256 bytes");
  }
  std::vector<tokenizers::AddedToken> masks;
  if (const std::optional<std::int32_t> mask = table.find(Special::mask))
    masks.push_back({.content = table.token(*mask), .lstrip = true, .special = true});
  added_.load(table, masks, [](const std::string& text) { return text; });
  std::vector<std::string> bytes = all_bytes_of(table, added_);
  Merges merges;
  if (has_merges)
    for (const std::string& line : lines) merges.add(line, table);
  else
    merges = merges_of(bytes, added_);
  merges_ = std::move(merges.ranks);
  made_ = std::move(merges.made);
  bytes_ = std::move(bytes);
  table_ = std::move(table);
}

template <class Visit>
void ByteBpe::each_word(std::string_view text, const Visit& visit) const {
  thread_local std::string prefixed;
  if (is_prefixed(text)) {
    prefixed.assign(1, ' ').append(text);
    text = prefixed;
  }
  while (!text.empty()) {
    const std::size_t length = first_word(text);
    visit(text.substr(0, length));
    text.remove_prefix(length);
  }
}

void ByteBpe::train(const TextCounts& texts) {
  tokenizers::require_training(training_);
  TextCounts counts;
  for (const auto& [text, count] : texts)
    each_word(text, [&, times = count](std::string_view word) { counts[std::string(word)] += times; });
  load(train_vocabulary(counts, training_));
}

/// Nothing is normalized here, so tokens of the normalized text are searched in the parts between the other
/// tokens.
void ByteBpe::append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                            std::vector<ByteRange>* ranges) const {
  std::size_t offset = 0;  // of the current part
  const auto found = [&](const tokenizers::TokenFinder::Match& match) {
    tokens.push_back(match.token->number);
    if (ranges != nullptr) ranges->push_back({offset + match.first, offset + match.behind});
  };
  const auto append_part = [&](std::size_t begin, std::size_t end) {
    offset = begin;
    tokenizers::split_at_tokens(
        added_.normalized(), text.substr(begin, end - begin),
        [&](std::size_t from, std::size_t to) {
          append_plain(text, begin + from, begin + to, tokens, ranges);
        },
        found);
    offset = 0;
  };
  tokenizers::split_at_tokens(added_.raw(), text, append_part, found);
}

void ByteBpe::append_plain(std::string_view whole, std::size_t from, std::size_t to,
                           std::vector<std::int32_t>& tokens, std::vector<ByteRange>* ranges) const {
  const std::string_view text = whole.substr(from, to - from);
  const std::size_t before = tokens.size();
  thread_local std::vector<std::int32_t> cut;  // encode is const and called from several threads
  each_word(text, [&](std::string_view word) {
    cut.clear();
    for (const char byte : word) cut.push_back(byte_numbers_[static_cast<unsigned char>(byte)]);
    merge_neighbours(
        cut, [this](std::int32_t left, std::int32_t right) { return merges_.find(left, right); },
        [this](std::int32_t rank) { return made_[static_cast<std::size_t>(rank)]; });
    tokens.insert(tokens.end(), cut.begin(), cut.end());
  });
  if (ranges == nullptr) return;
  const std::size_t prefix = is_prefixed(text) ? 1 : 0;  // a blank that the text does not have
  std::size_t begin = 0;
  for (std::size_t i = before; i < tokens.size(); ++i) {
    const std::size_t end = begin + bytes_[static_cast<std::size_t>(tokens[i])].size();
    ranges->push_back({from + begin - std::min(begin, prefix), from + end - prefix});
    begin = end;
  }
}

std::string ByteBpe::decode(std::span<const std::int32_t> tokens) const {
  std::string text;
  for (const std::int32_t number : tokens) {
    const tokenizers::AddedToken* added = added_.find(number);
    if (!table_.is_special(number) && (added == nullptr || !added->special))
      text += bytes_.at(static_cast<std::size_t>(number));
  }
  return text;
}

}  // namespace encore::byte_bpe
