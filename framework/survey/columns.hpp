// SPDX-License-Identifier: BSD-3-Clause
// columns_of(): the columns of a user's file with facts about their values: how many are empty, how many
// differ, how long they are. survey.cpp calls it; proposal.cpp chooses the columns of text and label by the
// facts. It reads rows by the same SeparatedRows as the reader "tsv", and follows keys into objects like the
// reader "jsonl". The memory is bounded by the limits below, whatever the file holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <encore/reader.hpp>

#include "record/survey_answer.hpp"
#include "survey/file_form.hpp"

namespace encore::survey {

inline constexpr std::size_t most_values = 1000;   ///< different values that are counted in a column
inline constexpr std::size_t most_columns = 1000;  ///< further keys of JSON are not looked at
inline constexpr std::size_t most_levels = 8;      ///< objects within objects of JSON

struct SurveyedColumns {
  std::int64_t rows = 0;
  std::vector<record::SurveyedColumn> columns;
};

/// Receives the number of bytes that are read.
using Watch = std::function<void(std::size_t bytes)>;

/// Returns the columns in the order of the file; keys of JSON as they first occur, those of a line by
/// their names, with dots between the levels. A column is named as the options of the reader name it: by its
/// heading, or by its number if there is no heading, or if the heading is a number or stands twice. Throws
/// Error if the first row of a table with `form.header` is itself a record, or if there are no records.
SurveyedColumns columns_of(const InputText& file, const FileForm& form, const Watch& watch = {});

}  // namespace encore::survey
