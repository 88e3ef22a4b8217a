// Generator: texts that a model writes, part by part: greedy, by a beam, or drawn. A text depends on its
// prompt and the Decoding alone: on the host its tokens are the same whatever prompts are answered beside it,
// and for any number of threads. Place in the flow: Evaluator, for tasks that measure or answer by such texts
// (Task::decoding), and the worker's generate. Read next: text_feed.hpp, beam_search.hpp, next_token.hpp.
//
//   Generator generator(model, tokenizer);
//   for (const GeneratedText& text : generator.run(set, {.beam = 5})[0]) ...
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include <encore/decoding.hpp>
#include <encore/examples.hpp>
#include <encore/tokenizer.hpp>

#include "model/model.hpp"

namespace encore {

class Generator {
 public:
  /// What a text has come to as long as it grows: of which sequence, its number among the texts of that one,
  /// and what it says so far (decoded_so_far: UTF-8, up to a stop). Not called where a beam is wider than 1:
  /// its texts are not certain before the end.
  using Seen = std::function<void(std::size_t sequence, std::size_t text, std::string_view said)>;

  /// How many sequences have all their texts.
  using Written = std::function<void(std::size_t sequences)>;

  /// Both outlive it.
  Generator(Model& model, const Tokenizer& tokenizer) : model_(model), tokenizer_(tokenizer) {}

  /// By sequence of the set, the best text first. In a model with an encoder a source without anything but
  /// white space has an empty text, which no pass is made for; without one an empty prompt is a prompt.
  /// Throws Error where the decoding contradicts itself, the model cannot generate, or a prompt leaves no
  /// row.
  std::vector<std::vector<GeneratedText>> run(const ExampleSet& set, const Decoding& decoding,
                                              const Seen& seen = {}, const Written& written = {});

 private:
  bool has_blank_source(const ExampleSet& set, std::size_t sequence) const;

  Model& model_;
  const Tokenizer& tokenizer_;
};

}  // namespace encore
