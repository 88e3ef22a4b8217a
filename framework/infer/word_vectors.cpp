// SPDX-License-Identifier: BSD-3-Clause
// Implements WordVectors: decides which tokens of a vocabulary are words by themselves, and copies their rows
// of the embedding table. The worker's embed verb calls it for words, without a pass of the model. A token is
// a word if its text is encoded as this token alone; this rule may change. word_pieces_ must stay ascending,
// because number_of() searches it by bisection. Read word_vectors.hpp first.
#include "infer/word_vectors.hpp"

#include <algorithm>

#include "infer/engine.hpp"
#include "model/floats.hpp"
#include "model/network.hpp"

namespace encore::infer {

WordVectors::WordVectors(const Engine& engine) : tokenizer_(engine.tokenizer()) {
  const memory::ParameterBlock& parameters = engine.model().parameters();
  const char* const path =
      engine.experiment().target_tokenizer ? model::source_token_table : model::token_table;
  const Tensor table = parameters.adapted(parameters.find(path));  // (V, C)
  table_ = {static_cast<std::size_t>(table.extent(1)), model::floats_of(engine.model().device(), table)};
  vectors_.width = table_.width;
  std::vector<std::int32_t> tokens;
  for (std::int32_t token = 0; token < static_cast<std::int32_t>(tokenizer_.vocabulary().size()); ++token) {
    // A special token decodes to nothing, and one from within words is cut into others if it stands alone.
    std::string word = tokenizer_.decode({&token, 1});
    tokens.clear();
    tokenizer_.encode(word, tokens);
    if (tokens.size() != 1 || tokens.front() != token) continue;
    if (const std::size_t text = word.find_first_not_of(' '); text != std::string::npos) word.erase(0, text);
    words_.push_back(std::move(word));
    word_pieces_.push_back(token);
    const std::span<const float> own = row(token);
    vectors_.values.insert(vectors_.values.end(), own.begin(), own.end());
  }
}

std::span<const float> WordVectors::row(std::int32_t token) const {
  return table_[static_cast<std::size_t>(token)];
}

std::vector<std::int32_t> WordVectors::tokens(std::string_view word) const {
  std::vector<std::int32_t> tokens;
  tokenizer_.encode(word, tokens);
  const std::optional<std::int32_t> unknown = tokenizer_.find(Special::unknown);
  const bool is_known = std::ranges::none_of(tokens, [&](std::int32_t token) { return token == unknown; });
  if (tokens.empty() || !is_known)
    throw Error("the vocabulary of the run has no tokens for \"" + std::string(word) +
                "\"; give a word that is made of them");
  return tokens;
}

void WordVectors::append(std::string_view word, Vectors& to) const {
  MeanVector mean(table_.width);
  for (const std::int32_t token : tokens(word)) mean.add(row(token));
  to.width = table_.width;
  to.values.resize(to.values.size() + to.width);
  mean.finish(std::span(to.values).last(to.width));
}

std::size_t WordVectors::number_of(std::int32_t token) const {
  const auto found = std::ranges::lower_bound(word_pieces_, token);
  return found != word_pieces_.end() && *found == token
             ? static_cast<std::size_t>(found - word_pieces_.begin())
             : words_.size();
}

}  // namespace encore::infer
