// SPDX-License-Identifier: BSD-3-Clause
// AskedRun: loads the model of a run and asks it with products that do not depend on the batch.
// application.cpp calls it. Read asked_run.hpp first.
#include "apply/asked_run.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <encore/lines.hpp>

#include "infer/text_alignment.hpp"
#include "pretrained/content_hash.hpp"
#include "tasks/data_split.hpp"

namespace encore::apply {
namespace {

/// Returns the folder of the run, after its weights have been compared with the planned ones.
std::filesystem::path checked_folder(const record::DataFile& weights, const std::string& role) {
  record::require_planned(weights, role, pretrained::sha256_of_content(weights.path));
  return std::filesystem::path(weights.path).parent_path();
}

/// Returns the text with its log-probability, which the score has divided by a power of its length.
WrittenText written(const GeneratedText& text, const Decoding& decoding) {
  const std::int64_t counted = std::ssize(text.tokens) + (text.ended ? 1 : 0);
  const std::int64_t tokens = std::max<std::int64_t>(counted, 1);
  const double length = static_cast<double>(tokens + decoding.given - 1);
  return {.text = std::string(trimmed(text.text)),
          .log_probability = text.score * std::pow(length, decoding.length_penalty),
          .tokens = tokens};
}

}  // namespace

AskedRun::AskedRun(const record::DataFile& weights, const std::string& role,
                   const std::vector<std::string>& plugin_folders, const Device& device)
    : specification_(record::Specification::load(checked_folder(weights, role))),
      engine_(std::filesystem::path(weights.path).parent_path(), plugin_folders, device) {
  engine_.make_batch_invariant();
}

/// Returns the fields that the task reads when it predicts, and the text of a request: Task::from_text gives
/// it beside them, because answers name parts of it.
Records AskedRun::questions_in(const Records& records) const {
  const auto is_read = [this](const std::string& name) {
    return name == "text" || std::ranges::find(fields().structure, name) != fields().structure.end() ||
           std::ranges::find(fields().optional, name) != fields().optional.end();
  };
  Records questions;
  for (const Records::Field& field : records.fields())
    if (is_read(field.name)) questions.add(field.name, field.values);
  return questions;
}

std::vector<tasks::InputUse> AskedRun::uses(const Records& records) const {
  const Records questions = questions_in(records);
  if (std::ranges::any_of(fields().structure, [&](const std::string& name) { return !questions.has(name); }))
    return {};
  const tasks::EncodedSet set = engine_.encode(questions);
  std::vector<tasks::InputUse> uses;
  for (std::size_t i = 0; i < records.size(); ++i)
    uses.push_back(tasks::input_use(engine_.task(), set.set, i));
  return uses;
}

Records AskedRun::answer(const Records& records) {
  const Records questions = questions_in(records);
  const tasks::EncodedSet set = engine_.encode(questions);
  const infer::Scores scores = no_scores().empty() ? infer::Scores::with : infer::Scores::without;
  return engine_.answer(questions, set, scores).answers;
}

Records::NumberLists AskedRun::vectors(const Records::Texts& texts) {
  const infer::Vectors vectors = engine_.embed(texts);
  Records::NumberLists lists;
  for (std::size_t i = 0; i < texts.size(); ++i) lists.emplace_back(vectors[i].begin(), vectors[i].end());
  return lists;
}

// --- generated text ---

std::string AskedRun::no_writing() const {
  if (engine_.task().decoding() && engine_.model().needs().target) return {};
  return "its task \"" + engine_.experiment().task.type +
         "\" generates no text from a text: expected a model of the task translate or summarize with "
         "decode = true";
}

/// Generates text for all records whose requests have one beam and one number of strings, beam by beam.
std::vector<std::vector<WrittenText>> AskedRun::write(const Records& questions,
                                                      const std::vector<WriteRequest>& requests) {
  if (const std::string problem = no_writing(); !problem.empty()) throw Error(problem);
  ENCORE_REQUIRE(requests.size() == questions.size(), "there is one request per record");
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < requests.size(); ++i)
    members[{requests[i].beam, requests[i].texts}].push_back(i);
  std::vector<std::vector<WrittenText>> all(requests.size());
  const Records read = questions_in(questions);
  for (const auto& [settings, numbers] : members) {
    Decoding decoding = *engine_.task().decoding();
    decoding.beam = settings.first;
    decoding.texts = settings.second;
    std::vector<std::vector<RequiredText>> required;
    for (const std::size_t number : numbers) required.push_back(requests[number].required);
    const tasks::EncodedSet set = engine_.encode(tasks::selected(read, numbers));
    const auto texts = engine_.generate(set, decoding, {}, required);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      for (const GeneratedText& text : texts[set.set.sequences(i).first])
        all[numbers[i]].push_back(written(text, decoding));
  }
  for (std::vector<WrittenText>& texts : all)
    if (texts.empty()) texts.push_back({.text = {}, .log_probability = 0.0, .tokens = 1});
  return all;
}

std::vector<TextAlignment> AskedRun::align(const Records::Texts& sources, const Records::Texts& targets) {
  if (const std::string problem = no_writing(); !problem.empty()) throw Error(problem);
  return infer::align_texts(engine_, sources, targets);
}

}  // namespace encore::apply
