// SPDX-License-Identifier: BSD-3-Clause
// Reads the columns of a statement into ParamRow, AttemptRow, VerificationRow and OriginRow of run_rows.hpp,
// in the order of the column lists in rows.hpp. A column that is added to a list must be read here at the
// same place. queries.cpp and run_batch.cpp call it. It also has the SQL that both share. Read rows.hpp
// first.
#include "store/rows.hpp"

#include "base/json_text.hpp"

namespace encore::store {

namespace {

nlohmann::json param_value(const Statement& row, int column, const std::string& type) {
  if (type == "boolean") return row.integer(column) != 0;
  if (type == "integer") return row.integer(column);
  if (type == "number") return row.number(column);
  if (type == "text") return row.text(column);
  if (type == "list") return json_or_null(row.text(column));
  return nullptr;
}

}  // namespace

std::string numbers_json(const std::vector<RunRow>& runs) {
  nlohmann::json list = nlohmann::json::array();
  for (const RunRow& run : runs) list.push_back(run.number);
  return list.dump();
}

ParamRow param_row(const Statement& row, int first) {
  const std::string type = row.text(first + 1);
  return {row.text(first), type, param_value(row, first + 2, type), row.text(first + 3), row.text(first + 4)};
}

namespace {

std::optional<record::Started> started_in(const std::string& text) {
  const std::optional<record::Event> event = text.empty() ? std::nullopt : record::read_event(text).event;
  const record::Started* started = event ? std::get_if<record::Started>(&*event) : nullptr;
  return started != nullptr ? std::optional(*started) : std::nullopt;
}

}  // namespace

std::optional<record::Started> last_started(const std::vector<AttemptRow>& attempts) {
  for (auto attempt = attempts.rbegin(); attempt != attempts.rend(); ++attempt)
    if (attempt->started_event) return attempt->started_event;
  return std::nullopt;
}

std::string in_sweeps(const std::string& names) {
  return "(run.sweep IN (SELECT number FROM sweep WHERE name IN (" + names +
         ")) OR run.number IN (SELECT sweep_run.run FROM sweep_run JOIN sweep ON sweep.number = "
         "sweep_run.sweep "
         "WHERE sweep.name IN (" +
         names + ")))";
}

AttemptRow attempt_row(const Statement& row) {
  AttemptRow attempt;
  attempt.number = row.integer(0);
  attempt.ordinal = static_cast<int>(row.integer(1));
  attempt.state = run_state_from(row.text(2)).value_or(RunState::lost);
  attempt.reason = row.text(3);
  attempt.started = row.number(4);
  attempt.finished = row.optional_number(5);
  attempt.first_step = row.optional_integer(6);
  attempt.environment = json_or_null(row.text(7));
  attempt.host = json_or_null(row.text(8));
  attempt.build = json_or_null(row.text(9));
  attempt.started_event = started_in(row.text(10));
  attempt.commit_hash = row.text(11);
  attempt.diff = row.text(12);
  attempt.holder = {row.text(13), row.integer(14), row.integer(15), row.text(16)};
  attempt.spool_problem = row.text(17);
  if (!row.is_null(18)) attempt.source = {row.text(18), row.text(19), row.text(20), row.text(21)};
  return attempt;
}

VerificationRow verification_row(const Statement& row, int first) {
  return {row.number(first),
          row.text(first + 1),
          row.optional_integer(first + 2),
          row.text(first + 3),
          json_or_null(row.text(first + 4)),
          origin_row(row, first + 5)};
}

std::optional<OriginRow> origin_row(const Statement& row, int first) {
  if (row.is_null(first)) return std::nullopt;
  return OriginRow{row.text(first), row.text(first + 1), row.text(first + 2), row.number(first + 3)};
}

}  // namespace encore::store
