// SPDX-License-Identifier: BSD-3-Clause
// Functions that several verbs of encore-worker share: progress lines (embed, evaluate, quantize), the
// warning about inputs that are longer than the model reads (predict), and the check of prompts and the JSON
// of generated outputs (generate, serve). `exp` reads the progress lines and the JSON from the worker's
// output, so their form must stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <encore/decoding.hpp>
#include <encore/examples.hpp>
#include <nlohmann/json_fwd.hpp>

#include "infer/engine.hpp"
#include "infer/evaluator.hpp"
#include "record/answer_progress.hpp"

namespace encore::worker {

/// Writes a progress line to the standard output, at most a few times a second.
void tell_progress(const record::AnswerProgress& progress);

/// Returns a function that writes progress lines during an evaluation.
infer::EvaluationWatch telling_progress();

/// Warns about inputs that are longer than the model reads. It prints only the first one, because a user does
/// not read a thousand warnings.
class LeftOut {
 public:
  /// `what`: the word for an input in messages, such as "line" or "record".
  LeftOut(const infer::Engine& model, std::string what) : model_(model), what_(std::move(what)) {}

  /// Counts the examples of a set and prints the warning at the first one that the task cuts.
  void look_at(const ExampleSet& set) {
    for (std::size_t i = 0; i < set.size() && !found_; ++i) {
      ++number_;
      const std::string left_out = model_.task().left_out(set, i);
      if (left_out.empty()) continue;
      found_ = true;
      std::cerr << "encore-worker: " << what_ << ' ' << number_
                << " is longer than data.max_length = " << model_.experiment().data.max_length
                << " of the model: " << left_out << "; cut the text into shorter " << what_
                << "s (only the first such " << what_ << " is named)\n";
    }
  }

 private:
  const infer::Engine& model_;
  std::string what_;
  std::int64_t number_ = 0;
  bool found_ = false;
};

/// Throws Error unless every prompt is a single sequence, because a prompt that was cut cannot be continued.
/// The message has the number of the prompt; the first of the set is number `first` + 1.
void require_whole_prompts(const infer::Engine& engine, const ExampleSet& set, std::size_t first);

/// Returns a JSON array `[{text, score, pieces, ended}]`; `pieces` is the number of tokens.
nlohmann::ordered_json written_json(const std::vector<GeneratedText>& texts);

}  // namespace encore::worker
