// SPDX-License-Identifier: BSD-3-Clause
// observe() computes facts about the answer to an example, such as its label, its probability and the
// distance of its vector from those of the training; reference_of() collects the facts of the development
// set. `exp monitor` compares them with the facts of a server's requests. Both come from this code, so a
// change makes stored references incomparable. A fact is left out if the model has no output for it.
// train/scoring.cpp and the worker's verbs call the functions. Read next: record/text_reference.hpp.
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

// The names of outputs with numbers, which heads and tasks use by convention; class_probabilities.hpp has
// more:
inline constexpr const char* scores_output =
    "scores";  ///< a probability for each class of its own, (rows, K)
inline constexpr const char* probabilities_output = "probabilities";  ///< the best first, (rows, K)
inline constexpr const char* embedding_output = "embedding";          ///< of a sequence, (B, C)

/// The results of a model on a set.
struct Observed {
  const Task& task;
  const Tokenizer& tokenizer;
  const ExampleSet& set;
  const Outputs& outputs;
  const Records& labelled;  ///< the answers of Task::label; without records, labels are not counted
};

/// Returns the facts of each example of the set. Distances are from `embeddings`.
std::vector<record::TextFacts> observe(const Observed& observed, const record::EmbeddingCloud& embeddings);

/// Returns the reference for `exp monitor`. `source`: the name of the set. If the model gives embeddings,
/// those of every second example are the cloud, and only the other half has a distance, because later inputs
/// are not in the cloud either.
record::TextReference reference_of(const Observed& observed, const std::string& source, std::int64_t step);

}  // namespace encore::infer
