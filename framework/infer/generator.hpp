// SPDX-License-Identifier: BSD-3-Clause
// Generator writes outputs for prompts token by token: greedily, by a beam, or drawn at random. An output
// depends on its prompt and the Decoding alone; on the host its tokens are the same for any other prompts in
// the call and any number of threads, which must stay so. Place in the flow: Evaluator (tasks with
// Task::decoding) and the worker's generate call it. Read next: text_feed.hpp, beam_search.hpp,
// next_token.hpp.
//
//   Generator generator(model, tokenizer);
//   for (const GeneratedText& text : generator.run(set, {.beam = 5})[0]) ...
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <encore/decoding.hpp>
#include <encore/examples.hpp>
#include <encore/required_text.hpp>
#include <encore/tokenizer.hpp>

#include "model/model.hpp"

namespace encore::infer {

class Generator {
 public:
  /// Receives an unfinished output: its sequence, its number among the outputs of that sequence, and its text
  /// so far (decoded_so_far: UTF-8, up to a stop). With a beam wider than 1 it is not called, because the
  /// outputs are not certain before the end.
  using Seen = std::function<void(std::size_t sequence, std::size_t text, std::string_view said)>;

  /// Receives the number of sequences that have all their outputs, after each group of prompts. Blank sources
  /// are counted from the first call on.
  using Written = std::function<void(std::size_t sequences)>;

  /// The strings that the outputs of each sequence of a set must have; no list at all: none.
  using Required = std::span<const std::vector<RequiredText>>;

  /// The model and the tokenizer must outlive the generator.
  Generator(model::Model& model, const Tokenizer& tokenizer) : model_(model), tokenizer_(tokenizer) {}

  /// Returns outputs by sequence of the set, the best first. In a model with an encoder a source of white
  /// space has an empty output, without a pass; without an encoder an empty prompt is a prompt. Throws Error
  /// if the decoding contradicts itself, the model cannot generate, or a prompt leaves no row. An output has
  /// the strings in `required` unless they cannot be written: because it would be too long, or because the
  /// vocabulary has no tokens for them; then it may be missing. Draws cannot have required strings.
  std::vector<std::vector<GeneratedText>> run(const ExampleSet& set, const Decoding& decoding,
                                              const Seen& seen = {}, const Written& written = {},
                                              Required required = {});

 private:
  bool has_blank_source(const ExampleSet& set, std::size_t sequence) const;

  model::Model& model_;
  const Tokenizer& tokenizer_;
};

}  // namespace encore::infer
