// SPDX-License-Identifier: BSD-3-Clause
// require_whole_prompts() and written_json(): refuse prompts that are too long, and turn generated outputs
// into JSON. generate_verb.cpp and serve_verb.cpp call them.
#include "worker/written_texts.hpp"

#include <nlohmann/json.hpp>

#include "infer/engine.hpp"

namespace encore::worker {

void require_whole_prompts(const infer::Engine& engine, const ExampleSet& set, std::size_t first) {
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set.sequences(i).count > 1 || !engine.task().left_out(set, i).empty())
      throw Error("prompt " + std::to_string(first + i + 1) + " is longer than data.max_length = " +
                  std::to_string(engine.experiment().data.max_length) + " of the model; shorten it");
}

nlohmann::ordered_json written_json(const std::vector<GeneratedText>& texts) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const GeneratedText& text : texts)
    list.push_back(
        {{"text", text.text}, {"score", text.score}, {"pieces", text.tokens.size()}, {"ended", text.ended}});
  return list;
}

}  // namespace encore::worker
