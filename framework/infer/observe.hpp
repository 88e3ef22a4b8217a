// SPDX-License-Identifier: BSD-3-Clause
// Computes facts about a model's answers, for every task: a server keeps them for its requests, and a
// reference holds them for the development set. Outputs are known by their usual names; facts without an
// output of the task or head are left out. Place in the flow: Evaluator's outputs -> here ->
// record/text_reference.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <encore/class_probabilities.hpp>
#include <encore/examples.hpp>
#include <encore/outputs.hpp>
#include <encore/records.hpp>
#include <encore/task.hpp>
#include <encore/tokenizer.hpp>

#include "record/text_reference.hpp"

namespace encore::infer {

// The usual names of outputs with numbers; class_probabilities.hpp has more:
inline constexpr const char* scores_output =
    "scores";  ///< a probability for each class of its own, (rows, K)
inline constexpr const char* probabilities_output = "probabilities";  ///< the best first, (rows, K)
inline constexpr const char* embedding_output = "embedding";          ///< of a sequence, (B, C)

/// The results on a set.
struct Observed {
  const Task& task;
  const Tokenizer& tokenizer;
  const ExampleSet& set;
  const Outputs& outputs;
  const Records& labelled;  ///< Task::label of it; without records: labels are not counted
};

/// Returns the facts of each example of the set. Distances are from `embeddings`.
std::vector<record::TextFacts> observe(const Observed& observed, const record::EmbeddingCloud& embeddings);

/// `source`: the name of the set. If the model gives embeddings, those of every second example are the cloud,
/// and only the other half has a distance, because later inputs are not in the cloud either.
record::TextReference reference_of(const Observed& observed, const std::string& source, std::int64_t step);

}  // namespace encore::infer
