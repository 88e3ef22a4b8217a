// SPDX-License-Identifier: BSD-3-Clause
// Computes the attention weights of a loaded model for display, with the text of each token, in the types of
// record/attention.hpp. Place in the flow: the worker's attention verb calls attended(engine, request); a run
// with train.show_attention calls attended_examples() on its development set. Read next:
// report/attention_charts.hpp, which draws them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <encore/examples.hpp>
#include <encore/tokenizer.hpp>

#include "infer/engine.hpp"
#include "model/model.hpp"
#include "record/attention.hpp"

namespace encore::infer {

/// Tokens as they are shown: special ones as the vocabulary has them, the others by their text if they
/// have one alone, with the vocabulary's sign of a word's beginning or continuation, and white space made
/// visible.
std::vector<record::AttentionToken> shown_tokens(const Tokenizer& tokenizer,
                                                 std::span<const std::int32_t> tokens);

/// Returns the weights of one sequence of a set, which must fit into the model's evaluation plan. Throws
/// Error if no layer of the model has weights, if the choice names a layer or head that does not exist, and
/// if there are too many weights to show.
record::AttentionText attended(model::Model& model, const Tokenizer& tokenizer, const ExampleSet& set,
                               std::size_t sequence, const record::AttentionChoice& choice);

/// Returns the weights of the first examples of a set, for a file: all sequences of each. Examples that would
/// make the file too large are left out, and `left_out` reports them. The examples must fit into the model's
/// evaluation plan.
record::AttentionTexts attended_examples(model::Model& model, const Tokenizer& tokenizer,
                                         const ExampleSet& set, const std::string& set_name,
                                         std::size_t examples, std::string& left_out);

/// The text of a request as the run's task reads a line of it; all sequences that it becomes. Also throws
/// Error for a text without tokens, one that is too long for the model, and a target that the model cannot
/// use.
record::AttentionTexts attended(Engine& engine, const record::AttentionRequest& request);

}  // namespace encore::infer
