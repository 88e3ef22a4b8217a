// What a model's answers say of texts, whatever the task is: the facts that a service keeps of its requests,
// and the reference that they are compared with. Outputs are known by their custom names; what a task or a
// head does not give is left out. Place in the flow: Evaluator's outputs -> here ->
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

namespace encore {

// Outputs of type numbers by custom, beside those of class_probabilities.hpp:
inline constexpr const char* scores_output =
    "scores";  ///< a probability for each class of its own, (rows, K)
inline constexpr const char* probabilities_output = "probabilities";  ///< the best first, (rows, K)
inline constexpr const char* embedding_output = "embedding";          ///< of a sequence, (B, C)

/// What has been said of a set.
struct Observed {
  const Task& task;
  const Tokenizer& tokenizer;
  const ExampleSet& set;
  const Outputs& outputs;
  const Records& labelled;  ///< Task::label of it; without records: labels are not counted
};

/// By example of the set. Distances are from `embeddings`.
std::vector<TextFacts> observe(const Observed& observed, const EmbeddingCloud& embeddings);

/// `source`: what the set is. Where the model gives embeddings, those of every other example are the cloud,
/// and only the others have a distance: so theirs are as those of texts that come later.
TextReference reference_of(const Observed& observed, const std::string& source, std::int64_t step);

}  // namespace encore
