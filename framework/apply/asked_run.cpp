// SPDX-License-Identifier: BSD-3-Clause
// AskedRun: loads the model of a run and asks it with products that do not depend on the batch.
// application.cpp calls it. Read asked_run.hpp first.
#include "apply/asked_run.hpp"

#include <algorithm>

#include "pretrained/content_hash.hpp"

namespace encore::apply {
namespace {

/// Returns the folder of the run, after its weights have been compared with the planned ones.
std::filesystem::path checked_folder(const record::DataFile& weights, const std::string& role) {
  record::require_planned(weights, role, pretrained::sha256_of_content(weights.path));
  return std::filesystem::path(weights.path).parent_path();
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

}  // namespace encore::apply
