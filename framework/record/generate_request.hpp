// GenerateRequest: what `exp generate` asks of the worker, as JSON on its standard input, and the rules that
// a way of decoding has to keep. The control program writes it (cli/generate_verb.cpp), the worker reads it
// (worker/generate_verb.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <encore/decoding.hpp>

namespace encore {

/// What is wrong with a way of decoding, as a sentence that names its options, or "".
std::string contradiction_in(const Decoding& decoding);

/// What a user wants otherwise than the task has it.
struct DecodingWishes {
  std::optional<std::int64_t> beam = {}, top_k = {}, texts = {}, max_pieces = {};
  std::optional<double> length_penalty = {}, temperature = {}, top_p = {}, repetition_penalty = {};
  std::optional<std::uint64_t> seed = {};
  std::vector<std::string> stop = {};

  /// `of_task` with these wishes. Who asks for draws by temperature, top_k or top_p gets no beam that he has
  /// not asked for, and the other way round; top_k and top_p alone draw with a temperature of 1.
  Decoding over(Decoding of_task) const;
};

struct GenerateRequest {
  std::vector<std::string> prompts = {};
  DecodingWishes decoding = {};
  bool json = false;  ///< the answer: one JSON object in place of text

  std::string text() const;
  /// Throws Error when it is none.
  static GenerateRequest parse(const std::string& text);
};

}  // namespace encore
