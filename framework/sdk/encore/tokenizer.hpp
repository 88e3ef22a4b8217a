// Tokenizer: text to numbers. Runs on the host only, in the worker; `encode` is called from several threads at once.
// Read next: plugins/tokenizers/wordpiece.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/options.hpp>

namespace encore {

/// Numbers of the special pieces in the vocabulary.
struct SpecialPieces {
  std::int32_t padding = 0;
  std::int32_t unknown = 0;
  std::int32_t start = 0;  ///< [CLS]
  std::int32_t end = 0;    ///< [SEP]
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// Takes a vocabulary, one piece per entry in the order of the numbers. Throws Error when it cannot be one
  /// (a special piece is missing, a piece stands twice).
  virtual void load(std::vector<std::string> vocabulary) = 0;
  /// Makes a vocabulary from the words of the training text and their counts, then loads it. Equal input gives an
  /// equal vocabulary on every machine. Throws Error when this tokenizer cannot be trained.
  virtual void train(const std::map<std::string, std::int64_t>& words) = 0;
  virtual std::span<const std::string> vocabulary() const = 0;
  virtual SpecialPieces special() const = 0;
  /// Appends the pieces of one word or text; appends nothing for a text without any (white space, control characters).
  virtual void encode(std::string_view text, std::vector<std::int32_t>& pieces) const = 0;
};

}  // namespace encore
