// Predictions as JSON, one object per line: the files of a run that comparisons and reports read, and the
// output of predict. Place in the flow: Records of a task -> here.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <encore/records.hpp>
#include <encore/statistics.hpp>
#include <encore/task.hpp>

namespace encore {

/// One record's value of a field: a text, a list of strings, a number or a list of them, spans as {"type",
/// "text", "start", "end"} with their scores where they have some, numbers by name as an object, or a list of
/// such.
nlohmann::json field_json(const Records::Field& field, std::size_t record);

/// The field of a task's answers that is a line for people; the others are for programs.
inline constexpr const char* shown_field = "shown";

/// The answer of a task to one record, for programs: an object on one line.
std::string answer_json(const Records& answers, std::size_t record);

/// {"example": i, FIELD: value of each structure or optional field, "truth", "predicted", "statistics"};
/// truth and prediction are the value of the truth field, or an object where a task has several. Throws Error
/// when the disk is full.
void write_predictions(const std::filesystem::path& path, const TaskFields& fields, const Records& records,
                       const Records& predicted, const Statistics& statistics);

}  // namespace encore
