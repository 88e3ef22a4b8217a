// SPDX-License-Identifier: BSD-3-Clause
// WordVectors gives the vector of a word: the mean of the rows that its tokens have in the model's embedding
// table. Place in the flow: the worker's embed verb makes one; the model runs no pass. Which tokens are words
// may change (word_vectors.cpp). Read next: vectors.hpp, which finds the nearest words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/tokenizer.hpp>

#include "infer/vectors.hpp"

namespace encore::infer {

class Engine;

class WordVectors {
 public:
  /// Copies the table to the host. The engine must outlive it.
  explicit WordVectors(const Engine& engine);

  /// Returns the numbers of the word's tokens. Throws Error if the vocabulary cannot express the whole word.
  std::vector<std::int32_t> tokens(std::string_view word) const;
  /// Appends the word's vector.
  void append(std::string_view word, Vectors& to) const;

  /// Returns the words that are a token by themselves, in the order of the vocabulary: the candidates for
  /// neighbours.
  const std::vector<std::string>& words() const { return words_; }
  const Vectors& vectors() const { return vectors_; }
  /// Returns the index of a token in words(), or words().size() if it is not a word.
  std::size_t number_of(std::int32_t token) const;

 private:
  std::span<const float> row(std::int32_t token) const;

  const Tokenizer& tokenizer_;
  Vectors table_;  ///< (V, C)
  std::vector<std::string> words_;
  std::vector<std::int32_t> word_pieces_;  ///< of words_, ascending
  Vectors vectors_;
};

}  // namespace encore::infer
