// SPDX-License-Identifier: BSD-3-Clause
// Functions that several verbs of encore-worker share: progress lines (embed, evaluate, quantize), the lines
// of an input and their answers (predict), the warning about inputs that are longer than the model reads, and
// the check of prompts and the JSON of generated outputs (generate, serve). `exp` reads the progress lines
// and the JSON from the worker's output, so their form must stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <encore/decoding.hpp>
#include <encore/examples.hpp>
#include <encore/records.hpp>
#include <nlohmann/json_fwd.hpp>

#include "infer/engine.hpp"
#include "infer/evaluator.hpp"
#include "record/answer_progress.hpp"
#include "tasks/input_use.hpp"

namespace encore::worker {

/// Writes a progress line to the standard output, at most a few times a second.
void tell_progress(const record::AnswerProgress& progress);

/// Returns a function that writes progress lines during an evaluation.
infer::EvaluationWatch telling_progress();

/// Reads the lines of an input, those that have arrived together.
class InputLines {
 public:
  /// Takes a large buffer; call it before anything is read.
  explicit InputLines(std::istream& in);
  /// Returns all lines that have arrived, at least one unless the input has ended, without a byte order mark.
  /// Bytes are read up to an LF; a CR alone also separates lines. Throws Error, with the number of the line,
  /// if one is not UTF-8 like training files.
  std::vector<std::string> next();

 private:
  std::istream& in_;
  std::vector<char> buffer_;
  std::int64_t read_ = 0;
};

/// Write answers to the standard output: a line for people (the field `shown`), or a JSON object, for each.
/// The object also has the members of how the input was read.
void write_text_answers(const Records& answers);
void write_json_answers(const Records& answers, std::span<const tasks::InputUse> uses);

/// Returns how the task has read each example of an encoded set.
std::vector<tasks::InputUse> uses_of(const infer::Engine& engine, const ExampleSet& set);

/// Warns about inputs that are longer than a model reads. It prints only the first one, because a user does
/// not read a thousand warnings.
class LeftOut {
 public:
  /// `what`: the word for an input, such as "line" or "record"; `limit`: what it is longer than.
  LeftOut(std::string what, std::string limit) : what_(std::move(what)), limit_(std::move(limit)) {}
  /// The limit of one model: "data.max_length = 32 of the model".
  LeftOut(std::string what, const infer::Engine& model);

  /// Looks at the next inputs.
  void look_at(std::span<const tasks::InputUse> uses);

 private:
  std::string what_, limit_;
  std::int64_t number_ = 0;
  bool found_ = false;
};

/// Throws Error unless every prompt is a single sequence, because a prompt that was cut cannot be continued.
/// The message has the number of the prompt; the first of the set is number `first` + 1.
void require_whole_prompts(const infer::Engine& engine, const ExampleSet& set, std::size_t first);

/// Returns a JSON array `[{text, score, pieces, ended}]`; `pieces` is the number of tokens.
nlohmann::ordered_json written_json(const std::vector<GeneratedText>& texts);

}  // namespace encore::worker
