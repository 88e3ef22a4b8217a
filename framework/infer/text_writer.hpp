// SPDX-License-Identifier: BSD-3-Clause
// TextWriter writes the outputs of a group of prompts from the first token to the last. After each read of
// the feed it selects the next token of every output by a search or by drawing. Generator makes one for each
// group of prompts. TextWriter calls text_feed.hpp for passes of the model, and beam_search.hpp and
// next_token.hpp for the choice. The text of an output must not depend on the others in its group.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <encore/decoding.hpp>
#include <encore/tokenizer.hpp>

#include "infer/beam_search.hpp"
#include "infer/best_tokens.hpp"
#include "infer/generator.hpp"
#include "infer/required_tokens.hpp"
#include "infer/text_feed.hpp"
#include "model/floats.hpp"

namespace encore::infer {

/// Returns the number of outputs of a prompt that are written side by side.
inline std::int64_t parallel_texts(const Decoding& decoding) {
  return decoding.temperature > 0.0 ? decoding.texts : decoding.beam;
}

/// Returns the largest number of tokens of a sequence's output. Throws Error if its prompt leaves no room.
std::int64_t most_tokens(const model::Model& model, const Decoding& decoding, const ExampleSet& set,
                         std::size_t sequence);
/// Returns the largest number of the model's rows that the output takes, its prompt included.
std::int64_t most_rows(const model::Model& model, const Decoding& decoding, const ExampleSet& set,
                       std::size_t sequence);

class TextWriter {
 public:
  /// `sequences`: their numbers in the set. `required`: as in Generator::run; either all of these sequences
  /// have required strings or none has. All arguments must outlive it. Throws Error as Generator::run does.
  TextWriter(model::Model& model, const Tokenizer& tokenizer, const ExampleSet& set, const Decoding& decoding,
             const Generator::Seen& seen, std::span<const std::size_t> sequences,
             Generator::Required required = {});

  /// Writes all outputs.
  void run();
  /// Returns, after run(), the outputs of the prompt with this index in `sequences`.
  std::vector<GeneratedText> texts(std::size_t prompt) const;

 private:
  struct Drawn {
    GeneratedText text;
    double log_probability = 0.0;
    std::int64_t tokens = 0;  ///< including the one that ends the text
  };
  struct Prompt {
    std::size_t sequence = 0;
    std::int64_t most_tokens = 1;
    std::unique_ptr<RequiredTokens> required = {};  ///< null: nothing is required
    std::optional<BeamSearch> search = {};
    std::vector<std::size_t> slots = {0};  ///< the places of search->live() among the outputs of the prompt
    std::vector<Drawn> drawn = {};         ///< in place of a search
  };

  static std::vector<Prompt> make_prompts(const model::Model& model, const Decoding& decoding,
                                          const ExampleSet& set, std::span<const std::size_t> sequences);
  std::int64_t capacity(const ExampleSet& set) const;  ///< rows of the longest text
  /// The place of a prompt's output among all outputs.
  std::size_t place(std::size_t prompt, std::size_t slot) const {
    return prompt * static_cast<std::size_t>(times_) + slot;
  }
  bool is_written(std::int32_t token) const { return token != padding_ || token == end_; }
  std::vector<std::vector<NextToken>> candidates(std::span<const std::size_t> places);
  std::vector<std::int32_t> wanted(std::size_t place) const;
  std::vector<std::vector<float>> logits();
  std::vector<std::vector<float>> logits_to_draw();

  void search();
  void advance(std::size_t prompt, std::span<const std::vector<NextToken>> of);
  void end_at_stops(BeamSearch& search) const;
  void assign_slots(std::size_t prompt);
  void draw();
  void draw_next(std::size_t prompt, std::size_t text, std::span<const float> logits);
  void show(std::size_t prompt, std::size_t text, const std::vector<std::int32_t>& tokens) const;

  model::Model& model_;
  const Tokenizer& tokenizer_;  ///< of outputs
  const Decoding& decoding_;
  const Generator::Seen& seen_;
  bool requires_;  ///< whether outputs have required strings
  std::int64_t times_;
  std::int32_t end_;
  std::int32_t padding_;  ///< never written, unless it is also the token that ends a text
  std::vector<Prompt> prompts_;
  TextFeed feed_;
  BestTokens best_;
  model::FloatReader reader_;
  std::vector<model::Generation::TextCopy> copies_;  ///< that the next tokens need
};

}  // namespace encore::infer
