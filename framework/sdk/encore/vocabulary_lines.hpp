// HasVocabularyLines: an extension of Tokenizer for one that needs more than its tokens to cut texts: scores,
// a normalisation. Place in the flow: the host keeps the lines of a trained vocabulary in the run's folder
// (infer/setup.cpp), and Tokenizer::load takes them again. The contract suite holds a plugin to that.
#pragma once

#include <string>
#include <vector>

#include <encore/tokenizer.hpp>

namespace encore {

/// To be inherited beside Tokenizer. A vocabulary whose tokens say everything needs no other lines.
class HasVocabularyLines {
 public:
  virtual ~HasVocabularyLines() = default;
  /// What `load` makes this tokenizer of: the tokens, and behind them lines of its own. No line is empty,
  /// holds a line end, or stands twice; all are UTF-8. After `load` or `train`.
  virtual std::vector<std::string> vocabulary_lines() const = 0;
};

/// The lines of any tokenizer's vocabulary file.
inline std::vector<std::string> vocabulary_lines_of(const Tokenizer& tokenizer) {
  if (const auto* more = dynamic_cast<const HasVocabularyLines*>(&tokenizer)) return more->vocabulary_lines();
  const std::span<const std::string> tokens = tokenizer.vocabulary();
  return {tokens.begin(), tokens.end()};
}

}  // namespace encore
