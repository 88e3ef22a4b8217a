// GenerateRequest: what `exp generate` asks of the worker, as JSON on its standard input, and the rules that
// a way of decoding has to keep. The control program writes it (app/predict.cpp), the worker reads it
// (worker/generate_verb.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <encore/decoding.hpp>

namespace encore {

/// How the options of decoding are called where a user gave them. The defaults are the names of a task's
/// options.
struct DecodingNames {
  const char *beam = "beam", *texts = "texts", *top_k = "top_k", *max_pieces = "max_pieces",
             *temperature = "temperature", *top_p = "top_p", *repetition_penalty = "repetition_penalty",
             *length_penalty = "length_penalty", *stop = "stop";
};
/// On the command line of `exp generate`.
inline constexpr DecodingNames generate_options = {.beam = "--beam",
                                                   .texts = "--texts",
                                                   .top_k = "--top-k",
                                                   .max_pieces = "--max-tokens",
                                                   .temperature = "--temperature",
                                                   .top_p = "--top-p",
                                                   .repetition_penalty = "--repetition-penalty",
                                                   .length_penalty = "--length-penalty",
                                                   .stop = "--stop"};

/// What is wrong with a way of decoding, as a sentence that names its options, or "".
std::string contradiction_in(const Decoding& decoding, const DecodingNames& names = {});

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
