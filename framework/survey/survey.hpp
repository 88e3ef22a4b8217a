// SPDX-License-Identifier: BSD-3-Clause
// survey(): what a user's own file holds. The flow is: text of the file -> form (file_form.hpp) -> columns
// (columns.hpp) -> text and label (proposal.hpp) -> the reader of this form reads the file as a run would ->
// counts (counts.hpp). worker/survey_verb.cpp calls it, for `exp app new`. Since the reader itself gives the
// records, what is counted is what a run will read.
#pragma once

#include <functional>
#include <memory>
#include <string>

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

}  // namespace encore::survey
