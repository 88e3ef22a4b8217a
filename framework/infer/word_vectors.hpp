// WordVectors: what a model's table of tokens says of words: the mean of the rows of a word's tokens. Place
// in the flow: the worker's embed verb; no pass is run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/tokenizer.hpp>

#include "infer/vectors.hpp"

namespace encore {

class Engine;

class WordVectors {
 public:
  /// Copies the table to the host. The engine outlives it.
  explicit WordVectors(const Engine& engine);

  /// Numbers of tokens. Throws Error where the vocabulary has none for it, or not for all of it.
  std::vector<std::int32_t> tokens(std::string_view word) const;
  /// Appends the word's vector.
  void append(std::string_view word, Vectors& to) const;

  /// The words that are a token by themselves, in the order of the vocabulary: the candidates for neighbours.
  const std::vector<std::string>& words() const { return words_; }
  const Vectors& vectors() const { return vectors_; }
  /// The number of a token among words(), or their count where it is no word.
  std::size_t number_of(std::int32_t token) const;

 private:
  std::span<const float> row(std::int32_t token) const;

  const Tokenizer& tokenizer_;
  Vectors table_;  ///< (V, C)
  std::vector<std::string> words_;
  std::vector<std::int32_t> word_pieces_;  ///< of words_, ascending
  Vectors vectors_;
};

}  // namespace encore
