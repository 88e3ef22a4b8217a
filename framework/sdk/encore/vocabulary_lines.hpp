// SPDX-License-Identifier: BSD-3-Clause
// HasVocabularyLines: an extension of Tokenizer. A tokenizer inherits it if it needs more than its tokens to
// cut text, such as scores or a normalization. The host keeps the lines of a trained vocabulary in the folder
// of the run (infer/setup.cpp), and Tokenizer::load reads them again. The contract suite checks this. The
// header is part of the ABI of plugins: a change needs a new ENCORE_SDK_VERSION (plugin.hpp).
#pragma once

#include <string>
#include <vector>

#include <encore/tokenizer.hpp>

namespace encore {

/// A tokenizer inherits HasVocabularyLines beside Tokenizer. A vocabulary that consists only of tokens needs
/// no other lines.
class HasVocabularyLines {
 public:
  virtual ~HasVocabularyLines() = default;
  /// Returns the lines from which `load` makes this tokenizer: the tokens, and after them lines of its own.
  /// No line is empty, contains a line end, or occurs twice; all are UTF-8. The host calls it after `load` or
  /// `train`.
  virtual std::vector<std::string> vocabulary_lines() const = 0;
};

/// Returns the lines of the vocabulary file of any tokenizer.
inline std::vector<std::string> vocabulary_lines_of(const Tokenizer& tokenizer) {
  if (const auto* more = dynamic_cast<const HasVocabularyLines*>(&tokenizer)) return more->vocabulary_lines();
  const std::span<const std::string> tokens = tokenizer.vocabulary();
  return {tokens.begin(), tokens.end()};
}

}  // namespace encore
