// SPDX-License-Identifier: BSD-3-Clause
// What all tokenizers share about vocabularies: options, most_frequent() for training, the names of special
// tokens, and TokenTable, which checks a list of tokens. The tokenizers of this folder call it. The order of
// special_tokens() and of most_frequent() numbers the tokens of each trained vocabulary, so neither order may
// change. Read vocabulary.hpp first.
#include "vocabulary.hpp"

#include <algorithm>
#include <utility>

#include <encore/error.hpp>

namespace encore::tokenizers {

Schema vocabulary_schema(std::int64_t min_frequency, std::string help, const std::string& file,
                         const std::string& least) {
  Schema schema;
  schema.optional("vocab", OptionType::path,
                  {.help = "vocabulary file: " + file + "; either vocab or vocab_size is required"});
  schema.optional(
      "vocab_size", OptionType::integer,
      {.help = "instead of vocab: train a vocabulary of at most this size, special tokens included, on "
               "the training text" +
               least,
       .unit = "tokens",
       .min = 16,
       .max = 1000000});
  schema.integer("min_frequency", min_frequency, {.help = "with vocab_size: " + std::move(help), .min = 1});
  return schema;
}

Training training_of(const Options& options) {
  if (options.has("vocab") == options.has("vocab_size"))
    throw OptionError("vocab",
                      options.has("vocab")
                          ? "vocab and vocab_size exclude each other: a vocabulary is read or trained"
                          : "a vocabulary is missing: give vocab = \"FILE\", or vocab_size to train one");
  return {options.has("vocab_size") ? options.integer("vocab_size") : 0, options.integer("min_frequency")};
}

void require_training(const Training& training) {
  if (training.vocab_size == 0)
    throw Error("this tokenizer reads its vocabulary from a file: give vocab_size to train one");
}

const std::vector<std::string>& special_tokens() {
  static const std::vector<std::string> tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};
  return tokens;
}

std::vector<std::string> most_frequent(const TextCounts& counts, const Training& training,
                                       const std::string& what) {
  std::vector<std::pair<std::int64_t, std::string_view>> ranked;
  for (const auto& [token, count] : counts)
    if (count >= training.min_frequency &&
        std::find(special_tokens().begin(), special_tokens().end(), token) == special_tokens().end())
      ranked.emplace_back(-count, token);
  if (ranked.empty())
    throw Error("no " + what + " of the training text occurs min_frequency = " +
                std::to_string(training.min_frequency) + " times: lower min_frequency");
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> tokens = special_tokens();
  for (const auto& [count, token] : ranked) {
    if (static_cast<std::int64_t>(tokens.size()) >= training.vocab_size) break;
    tokens.emplace_back(token);
  }
  return tokens;
}

namespace {

std::size_t index_of(Special role) {
  return static_cast<std::size_t>(role);
}

SpecialNames usual_names() {
  SpecialNames names;
  for (const Special role : all_specials) names[index_of(role)] = usual_token(role);
  return names;
}

/// Returns the names joined: "[PAD], [UNK], [CLS] and [SEP]".
std::string required_names(const SpecialNames& names) {
  std::vector<std::string_view> distinct;
  for (const Special role : all_specials)
    if (role != Special::mask &&
        std::find(distinct.begin(), distinct.end(), names[index_of(role)]) == distinct.end())
      distinct.push_back(names[index_of(role)]);
  std::string text;
  for (std::size_t i = 0; i < distinct.size(); ++i)
    text += (i == 0 ? "" : i + 1 == distinct.size() ? " and " : ", ") + std::string(distinct[i]);
  return text;
}

}  // namespace

/// Returns the usual names, or the first set in `others` (names of other families, such as <s>) whose start
/// token the vocabulary has, if the vocabulary lacks the usual start token.
SpecialNames TokenTable::special_names(std::span<const SpecialNames> others) const {
  if (find(usual_token(Special::start)) == no_token)
    for (const SpecialNames& names : others)
      if (find(names[index_of(Special::start)]) != no_token) return names;
  return usual_names();
}

TokenTable::TokenTable(std::vector<std::string> tokens, const std::string& kind,
                       std::span<const SpecialNames> others)
    : tokens_(std::move(tokens)) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].empty()) throw Error("token " + std::to_string(i) + " of the vocabulary is empty");
    if (!numbers_.emplace(tokens_[i], static_cast<std::int32_t>(i)).second)
      throw Error("the vocabulary holds the token \"" + tokens_[i] + "\" twice");
  }
  const SpecialNames names = special_names(others);
  for (const Special role : all_specials) {
    const std::string_view token = names[index_of(role)];
    const std::int32_t number = find(token);
    if (number == no_token && role != Special::mask)
      throw Error("the vocabulary has no " + std::string(token) + "; a " + kind + " vocabulary needs " +
                  required_names(names));
    special_[index_of(role)] = number;
  }
}

bool TokenTable::is_special(std::int32_t number) const {
  return number != no_token && std::find(special_.begin(), special_.end(), number) != special_.end();
}

bool TokenTable::is_required(std::int32_t number) const {
  return is_special(number) && number != special_[static_cast<std::size_t>(Special::mask)];
}

const std::string& TokenTable::token(std::int32_t number) const {
  ENCORE_REQUIRE(number >= 0 && static_cast<std::size_t>(number) < tokens_.size(),
                 "the number of a token is one of the vocabulary");
  return tokens_[static_cast<std::size_t>(number)];
}

}  // namespace encore::tokenizers
