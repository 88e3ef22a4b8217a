// SPDX-License-Identifier: BSD-3-Clause
// TextFeed passes the tokens of unfinished outputs to a model. After each read() there are logits for the
// next token of each of them. Long prompts are read many rows at once, and the head is not computed for rows
// whose logits are not needed. An output that fills all positions of the model continues with its second
// half as context. Which rows share a pass must not change a bit of the logits. TextWriter appends the
// tokens that it chooses. Read next: model/generation.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <encore/examples.hpp>

#include "model/generation.hpp"
#include "model/model.hpp"

namespace encore::infer {

/// Returns the tokens of a sequence that are to be continued: those of its target that are given
/// (Decoding::given) if the model has a decoder, else those of the sequence itself.
std::span<const std::int32_t> prompt_of(const model::Model& model, const Decoding& decoding,
                                        const ExampleSet& set, std::size_t sequence);

class TextFeed {
 public:
  /// `sequences`: those of the set whose outputs are written together. `times`: the number of outputs of
  /// each of them after repeat(); before it there is one. `capacity`: rows of the longest output, at most
  /// data.max_length. Model and set must outlive it. Throws Error if the model cannot generate.
  TextFeed(model::Model& model, const Decoding& decoding, const ExampleSet& set,
           std::span<const std::size_t> sequences, std::int64_t times, std::int64_t capacity);

  /// Runs passes over the tokens that the model has not seen yet.
  void read();
  /// Returns, after read(), the numbers of the outputs that it has read, ascending: row i of logits() (rows,
  /// V) belongs to output rows()[i].
  const std::vector<std::size_t>& rows() const { return rows_; }
  Tensor logits() const;

  // --- between two reads ---
  /// Makes `times` outputs of each one; those of one sequence are neighbours. Call it at most once, after
  /// the first read().
  void repeat();
  /// Makes outputs copies of others (Generation::copy).
  void copy(std::span<const model::Generation::TextCopy> copies);
  /// Appends a token to an output; read() passes it to the model.
  void append(std::size_t text, std::int32_t token);
  /// Ends an output: read() leaves it out from now on.
  void end(std::size_t text) { texts_[text].ended = true; }
  /// Returns all tokens of an output, those of the prompt included.
  const std::vector<std::int32_t>& tokens(std::size_t text) const { return texts_[text].tokens; }

 private:
  struct Text {
    std::vector<std::int32_t> tokens;
    std::size_t first = 0;  ///< token that stands at position 0
    bool ended = false;
  };

  BatchSize largest_pass(std::int64_t capacity) const;
  data::PackedRows sources() const;
  std::int64_t unread(std::size_t text) const;
  void slide(std::size_t text);
  void pass(const std::vector<std::int64_t>& counts, model::Generation::Until until);

  model::Model& model_;
  const ExampleSet& set_;
  std::vector<std::size_t> sequences_;
  std::int64_t times_, capacity_;
  std::int64_t most_rows_;  ///< of a pass
  bool has_sources_, begun_ = false;
  std::vector<Text> texts_;
  std::vector<std::size_t> rows_;
  std::unique_ptr<model::Generation> generation_;
};

}  // namespace encore::infer
