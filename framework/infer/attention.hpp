// Attention to look at: what a loaded model attends to in one sequence, with the texts of its tokens, as
// record/attention.hpp has it. Place in the flow: the worker's attention verb asks attended(engine, request);
// a run that keeps examples (train.show_attention) asks for one sequence of its development set after the
// other.
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

namespace encore {

/// Tokens as they are shown: special ones as the vocabulary has them, the others by their text where they
/// have one alone, with the vocabulary's sign of a word's beginning or continuation, and white space made
/// visible.
std::vector<AttentionToken> shown_tokens(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens);

/// One sequence of a set. The model's evaluation plan holds it. Throws Error where no layer of the model has
/// weights, where the choice names a layer or head that there is not, and where there are more weights than
/// anybody can look at.
AttentionText attended(Model& model, const Tokenizer& tokenizer, const ExampleSet& set, std::size_t sequence,
                       const AttentionChoice& choice);

/// The first examples of a set, all sequences of each, for a file: those that would make it larger than
/// anybody reads are left out, which `left_out` then says. The model's evaluation plan holds them.
AttentionTexts attended_examples(Model& model, const Tokenizer& tokenizer, const ExampleSet& set,
                                 const std::string& set_name, std::size_t examples, std::string& left_out);

/// The text of a request as the run's task reads a line of it; all sequences that it becomes. Throws Error
/// beside that for a text without tokens, one that is longer than the model, and a target that the model has
/// no use for.
AttentionTexts attended(Engine& engine, const AttentionRequest& request);

}  // namespace encore
