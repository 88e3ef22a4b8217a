// SPDX-License-Identifier: BSD-3-Clause
// count_records() and compare_with_test(): classes, duplicates and leaks among the records that the reader
// gives of a user's file. survey.cpp calls them. A text is equal to another as the split of [data] sees it
// (tasks/data_split.hpp): byte for byte. Examples come in the order of the file, so equal files give equal
// answers. What is counted may grow.
#pragma once

#include <encore/records.hpp>

#include "record/survey_answer.hpp"

namespace encore::survey {

inline constexpr std::size_t most_examples = 5;     ///< of duplicates, conflicts and leaks
inline constexpr std::size_t most_classes = 10000;  ///< more labels are refused, because classes repeat

/// Counts records with the fields "text" and "label". Throws Error if they have more than `most_classes`
/// labels.
record::SurveyedRecords count_records(const Records& records);

/// Counts the records of a test set and compares them with those of the first file.
record::SurveyedTest compare_with_test(const Records& records, const Records& test);

}  // namespace encore::survey
