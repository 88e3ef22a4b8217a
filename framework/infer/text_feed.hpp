// TextFeed: gives the tokens of growing texts to a model, so that after each read() there are logits for the
// token that comes next of every text that is still written. Long prompts are read in runs of rows, without
// the head; a text that fills all positions of the model goes on with the second half of what it has as its
// context. Place in the flow: Generator says which tokens -> here -> model/generation.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <encore/examples.hpp>

#include "model/generation.hpp"
#include "model/model.hpp"

namespace encore {

/// The rows of a text that is to be continued: of its target where the model has a decoder, else of itself.
/// Of a target, the tokens that are given.
std::span<const std::int32_t> prompt_of(const Model& model, const Decoding& decoding, const ExampleSet& set,
                                        std::size_t sequence);

class TextFeed {
 public:
  /// sequences: of the set, those whose texts are written together; times: how many texts each will have,
  /// after repeat(); capacity: rows of the longest text, at most data.max_length. Model and set outlive it.
  /// Throws Error where the model cannot generate.
  TextFeed(Model& model, const Decoding& decoding, const ExampleSet& set,
           std::span<const std::size_t> sequences, std::int64_t times, std::int64_t capacity);

  /// Reads what the texts have that the model has not seen yet.
  void read();
  /// After read(): the texts that it is about, ascending; row i of logits() (rows, V) is that of rows()[i].
  const std::vector<std::size_t>& rows() const { return rows_; }
  Tensor logits() const;

  // --- between two reads ---
  /// Every text becomes as many as the constructor was told, side by side.
  void repeat();
  void copy(std::span<const Generation::TextCopy> copies);
  void append(std::size_t text, std::int32_t token);
  /// Nothing more is read of it.
  void end(std::size_t text) { texts_[text].ended = true; }
  /// All tokens of a text, those of the prompt included.
  const std::vector<std::int32_t>& tokens(std::size_t text) const { return texts_[text].tokens; }

 private:
  struct Text {
    std::vector<std::int32_t> tokens;
    std::size_t first = 0;  ///< token that stands at position 0
    bool ended = false;
  };

  BatchSize largest_pass(std::int64_t capacity) const;
  PackedRows sources() const;
  std::int64_t unread(std::size_t text) const;
  void slide(std::size_t text);
  void pass(const std::vector<std::int64_t>& counts, Generation::Until until);

  Model& model_;
  const ExampleSet& set_;
  std::vector<std::size_t> sequences_;
  std::int64_t times_, capacity_;
  std::int64_t most_rows_;  ///< of a pass
  bool has_sources_, begun_ = false;
  std::vector<Text> texts_;
  std::vector<std::size_t> rows_;
  std::unique_ptr<Generation> generation_;
};

}  // namespace encore
