// SPDX-License-Identifier: BSD-3-Clause
// GenerateRequest: the request of `exp generate` to the worker, as JSON on its standard input, and the rules
// for decoding options. Place in the flow: app/predict.cpp writes it -> worker/generate_verb.cpp reads it ->
// infer/generator.hpp. serve/requests.cpp uses the rules too. Both programs come from one build, so the JSON
// may change. Read next: encore/decoding.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <encore/decoding.hpp>

namespace encore::record {

/// The names of decoding options in messages, as the user wrote them. The defaults are the names of a task's
/// options.
struct DecodingNames {
  const char *beam = "beam", *texts = "texts", *top_k = "top_k", *max_tokens = "max_pieces",
             *temperature = "temperature", *top_p = "top_p", *repetition_penalty = "repetition_penalty",
             *length_penalty = "length_penalty", *stop = "stop";
};
/// The names of the decoding options on the command line of `exp generate`.
inline constexpr DecodingNames generate_options = {.beam = "--beam",
                                                   .texts = "--texts",
                                                   .top_k = "--top-k",
                                                   .max_tokens = "--max-tokens",
                                                   .temperature = "--temperature",
                                                   .top_p = "--top-p",
                                                   .repetition_penalty = "--repetition-penalty",
                                                   .length_penalty = "--length-penalty",
                                                   .stop = "--stop"};

/// Returns what is wrong with these decoding options, as a sentence that names them, or "".
std::string contradiction_in(const Decoding& decoding, const DecodingNames& names = {});

/// The decoding options that a user sets in place of the task's.
struct DecodingWishes {
  std::optional<std::int64_t> beam = {}, top_k = {}, texts = {}, max_tokens = {};
  std::optional<double> length_penalty = {}, temperature = {}, top_p = {}, repetition_penalty = {};
  std::optional<std::uint64_t> seed = {};
  std::vector<std::string> stop = {};

  /// Returns `of_task` with these wishes. A wish for draws (temperature, top_k or top_p) turns off a beam
  /// that the user has not set, and the other way round. top_k and top_p alone draw with a temperature of 1.
  Decoding over(Decoding of_task) const;
};

struct GenerateRequest {
  std::vector<std::string> prompts = {};  ///< the inputs, each of which is continued or answered
  DecodingWishes decoding = {};
  bool json = false;  ///< the answer: one JSON object in place of text

  std::string text() const;
  /// Throws Error when the text is not a request.
  static GenerateRequest parse(const std::string& text);
};

}  // namespace encore::record
