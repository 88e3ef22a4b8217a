// SPDX-License-Identifier: BSD-3-Clause
// survey(): what a user's own file holds. The flow is: text of the file -> form (file_form.hpp) -> columns
// (columns.hpp) -> text and label (proposal.cpp) -> the reader of this form reads the file as a run would ->
// counts (counts.cpp). worker/survey_verb.cpp calls survey(), for `exp app new`; survey.cpp calls the other
// functions. Since the reader itself gives the records, what is counted is what a run will read. What is
// counted may grow. The rules of a choice may change: it is shown with its reason, and nothing stored depends
// on it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <encore/reader.hpp>

#include "record/survey_answer.hpp"

namespace encore::survey {

/// Makes the reader of a type, "tsv" or "jsonl", with these options over its defaults.
using MakeReader = std::function<std::unique_ptr<Reader>(const std::string& type, const Options& options)>;
/// Receives "read" and then "counted", with the MB or records that are done and all of them.
using Progress =
    std::function<void(const std::string& what, const std::string& unit, std::size_t done, std::size_t all)>;

/// Surveys the files of a request, which are UTF-8; `test` is read if the request names it. If
/// the text or the label cannot be chosen, the answer has the columns alone. Throws Error with file and line
/// where a file cannot be used, and with the nearest name for a column that does not exist.
record::SurveyAnswer survey(const record::SurveyRequest& request, const InputText& file,
                            const InputText& test, const MakeReader& make_reader, const Progress& progress);

// --- the choice of columns that the user does not name, from their facts: pure functions (proposal.cpp) ---

/// Chooses the column of the text: several words in most records, and many different values. Of several
/// candidates the only one with a usual name is taken, or one that is twice as long as each other one. If
/// neither holds, the result has candidates and no name.
record::ChosenColumn choose_text(const std::vector<record::SurveyedColumn>& columns);

/// Chooses the column of the label: short values that repeat. Of several candidates the only one with a usual
/// name is taken. `text` is the column of the text.
record::ChosenColumn choose_label(const std::vector<record::SurveyedColumn>& columns,
                                  const std::string& text);

// --- classes, duplicates and leaks among the records of a reader (counts.cpp). A text is equal to another as
// the split of [data] sees it (tasks/data_split.hpp): byte for byte. Examples come in the order of the file,
// so equal files give equal answers. ---

inline constexpr std::size_t most_examples = 5;     ///< of duplicates, conflicts and leaks
inline constexpr std::size_t most_classes = 10000;  ///< more labels are refused, because classes repeat

/// Counts records with the fields "text" and "label". Throws Error if they have more than `most_classes`
/// labels.
record::SurveyedRecords count_records(const Records& records);

/// Counts the records of a test set and compares them with those of the first file.
record::SurveyedTest compare_with_test(const Records& records, const Records& test);

}  // namespace encore::survey
