// SPDX-License-Identifier: BSD-3-Clause
// AnswerProgress: writes and parses the progress line that a worker prints before its answer. The worker's
// verbs call line(), app/worker_answer.hpp calls parse(). Both programs come from one build, so the form may
// change. Read answer_progress.hpp first.
#include "record/answer_progress.hpp"

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"

namespace encore::record {

namespace {
/// No answer begins with this name.
constexpr std::string_view opening = "{\"at_work\":";
}  // namespace

std::string AnswerProgress::line() const {
  return std::string(opening) + nlohmann::json{what, done, all, unit}.dump() + "}";
}

std::optional<AnswerProgress> AnswerProgress::parse(std::string_view line) {
  if (!line.starts_with(opening)) return {};
  const nlohmann::json parsed = json_or_null(line);
  if (!parsed.is_object() || !parsed.begin()->is_array() || parsed.begin()->size() != 4) return {};
  const nlohmann::json& fields = *parsed.begin();
  if (!fields[0].is_string() || !fields[1].is_number_unsigned() || !fields[2].is_number_unsigned() ||
      !fields[3].is_string())
    return {};
  return AnswerProgress{.what = fields[0], .unit = fields[3], .done = fields[1], .all = fields[2]};
}

}  // namespace encore::record
