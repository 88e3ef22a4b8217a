// SPDX-License-Identifier: BSD-3-Clause
// The answers of a model that labels words, for the checks of steps that read them: the fields `text`,
// `tags`, `score` and `entities`, as the tasks `tag` and `ner` give them. step_samples.cpp asks for them if a
// step reads `words` and labels of the step before. A new field of these tasks needs a case in the .cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <encore/records.hpp>

namespace encore::contract {

/// Returns whether a step with these fields, read or of truth, works on words and their labels ("words" and
/// "before.tags" or "before.entities").
bool reads_word_labels(const std::vector<std::string>& fields);

/// Returns the values of one field for the words of the records, or nothing for another field. About 90 % of
/// the labels are the true ones, if the records have `tags`. `set` makes the answers of sets differ.
std::optional<Records::Values> word_label_values(const std::string& field, const Records& records,
                                                 const std::string& set);

}  // namespace encore::contract
