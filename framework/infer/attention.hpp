// SPDX-License-Identifier: BSD-3-Clause
// Computes the attention weights of a loaded model for display, with the text of each token, in the types of
// record/attention.hpp, whose JSON is stored. Place in the flow: the worker's attention verb calls
// attended(engine, request); a run with train.show_attention calls attended_examples() on its development
// set. The weights must be those of a scoring pass (Model::attention), without dropout. Read next:
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

/// Returns the tokens as they are shown. A special token is shown as in the vocabulary, another one by its
/// text, or by its entry in the vocabulary if it has no text by itself. The vocabulary's mark for the
/// beginning or continuation of a word stays, and white space is made visible.
std::vector<record::AttentionToken> shown_tokens(const Tokenizer& tokenizer,
                                                 std::span<const std::int32_t> tokens);

/// Returns the weights of one sequence of a set, which must fit into the model's evaluation plan. Throws
/// Error if no layer of the model has weights, if the choice names a layer or head that does not exist, and
/// if there are too many weights to show.
record::AttentionText attended(model::Model& model, const Tokenizer& tokenizer, const ExampleSet& set,
                               std::size_t sequence, const record::AttentionChoice& choice);

/// Returns the mean of the weights of all layers and heads in which rows of the decoder attend to rows of the
/// source: (rows of the target, rows of the source). Empty if there is no such layer. The sequence must fit
/// into the model's evaluation plan.
std::vector<double> mean_cross_attention(model::Model& model, const ExampleSet& set, std::size_t sequence);

/// Returns the weights of the first examples of a set, for a file: all sequences of each. Examples that would
/// make the file too large are left out, and `left_out` reports them. The examples must fit into the model's
/// evaluation plan.
record::AttentionTexts attended_examples(model::Model& model, const Tokenizer& tokenizer,
                                         const ExampleSet& set, const std::string& set_name,
                                         std::size_t examples, std::string& left_out);

/// Returns the weights of all sequences that the run's task makes of the text of a request. Throws Error like
/// attended() above, and for a text without tokens, a text that is too long for the model, and a target that
/// the model cannot use.
record::AttentionTexts attended(Engine& engine, const record::AttentionRequest& request);

}  // namespace encore::infer
