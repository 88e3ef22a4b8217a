// SPDX-License-Identifier: BSD-3-Clause
// choose_text() and choose_label(): which columns of a user's file are the text and the label, from the facts
// of columns.hpp. Pure functions; survey.cpp calls them for the columns that the user does not name. The
// rules may change: a choice is shown with its reason, and nothing stored depends on it. Read counts.hpp
// next.
#pragma once

#include <string>
#include <vector>

#include "record/survey_answer.hpp"

namespace encore::survey {

/// Chooses the column of the text: several words in most records, and many different values. Of several
/// candidates the only one with a usual name is taken, or one that is twice as long as each other one. If
/// neither holds, the result has candidates and no name.
record::ChosenColumn choose_text(const std::vector<record::SurveyedColumn>& columns);

/// Chooses the column of the label: short values that repeat. Of several candidates the only one with a usual
/// name is taken. `text` is the column of the text.
record::ChosenColumn choose_label(const std::vector<record::SurveyedColumn>& columns,
                                  const std::string& text);

}  // namespace encore::survey
