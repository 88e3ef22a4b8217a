// SPDX-License-Identifier: BSD-3-Clause
// Implements verb_helpers.hpp, which verbs of encore-worker call: writes progress lines at most a few times a
// second while a verb computes its answer, refuses prompts that are too long, and turns generated outputs
// into JSON. `exp` parses the lines and the JSON, so members keep their names. Read verb_helpers.hpp first.
#include "worker/verb_helpers.hpp"

#include <chrono>
#include <ostream>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "worker/answers.hpp"

namespace encore::worker {

void tell_progress(const record::AnswerProgress& progress) {
  using Clock = std::chrono::steady_clock;
  constexpr auto interval = std::chrono::milliseconds(100);
  static Clock::time_point next = Clock::now();
  if (Clock::now() < next) return;
  next = Clock::now() + interval;
  answer_stream() << progress.line() << std::endl;
}

infer::EvaluationWatch telling_progress() {
  return [](const infer::EvaluationProgress& progress) {
    tell_progress({.what = progress.writes ? "written" : "scored",
                   .unit = progress.writes ? "texts" : "sequences",
                   .done = progress.done,
                   .all = progress.all});
  };
}

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
