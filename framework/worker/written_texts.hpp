// Shared by generate and serve: refuses prompts that are too long, and writes outputs as JSON.
#pragma once

#include <cstddef>
#include <vector>

#include <encore/decoding.hpp>
#include <encore/examples.hpp>
#include <nlohmann/json_fwd.hpp>

namespace encore {

class Engine;

/// Every prompt has to be one sequence: nothing can be generated behind a cut. Throws Error that names the
/// prompt by its number; that of the first of the set is `first` + 1.
void require_whole_prompts(const Engine& engine, const ExampleSet& set, std::size_t first);

/// Returns `[{text, score, tokens, ended}]`.
nlohmann::ordered_json written_json(const std::vector<GeneratedText>& texts);

}  // namespace encore
