// SPDX-License-Identifier: BSD-3-Clause
// Functions that the verbs generate and serve share: one refuses prompts that are too long, one turns
// generated outputs into JSON.
#pragma once

#include <cstddef>
#include <vector>

#include <encore/decoding.hpp>
#include <encore/examples.hpp>
#include <nlohmann/json_fwd.hpp>

namespace encore::infer {
class Engine;
}

namespace encore::worker {

/// Throws Error unless every prompt is a single sequence, because a prompt that was cut cannot be continued.
/// The message has the number of the prompt; the first of the set is number `first` + 1.
void require_whole_prompts(const infer::Engine& engine, const ExampleSet& set, std::size_t first);

/// Returns a JSON array `[{text, score, tokens, ended}]`.
nlohmann::ordered_json written_json(const std::vector<GeneratedText>& texts);

}  // namespace encore::worker
