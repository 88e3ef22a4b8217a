// SPDX-License-Identifier: BSD-3-Clause
// Predictions as JSON, one object per line: the prediction files of a run, which comparisons and reports
// read, and the output of predict and serve. task_sets.cpp calls it with the Records that a task returned.
// Members of the objects are only added, never renamed or removed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <encore/records.hpp>
#include <encore/statistics.hpp>
#include <encore/task.hpp>

namespace encore::tasks {

/// Returns one record's value of a field: a text, a list of strings, a number or a list of numbers, spans as
/// {"type", "text", "start", "end"} (with their scores if they have some), numbers by name as an object, or a
/// list of such.
nlohmann::json field_json(const Records::Field& field, std::size_t record);

/// The field of a task's answers that is a line for people; all other fields are for programs.
inline constexpr const char* shown_field = "shown";

/// Returns the answer to one record, for programs: an object on one line, with the members of `more`.
std::string answer_json(const Records& answers, std::size_t record);
std::string answer_json(const Records& answers, std::size_t record, const nlohmann::json& more);

/// Writes lines {"example": i, FIELD: value of each structure or optional field, "truth", "predicted",
/// "statistics"}. Truth and prediction are the value of the truth field, or an object if the task has
/// several. Throws Error if the disk is full.
void write_predictions(const std::filesystem::path& path, const TaskFields& fields, const Records& records,
                       const Records& predicted, const Statistics& statistics);

}  // namespace encore::tasks
