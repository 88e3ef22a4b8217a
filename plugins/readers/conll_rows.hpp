// SPDX-License-Identifier: BSD-3-Clause
// Decides which lines of a CoNLL file are rows, comments, or ends of sentences. conll.cpp calls it for rows
// with labels, conll_questions.cpp for rows whose labels are ignored; both must agree about every line, and a
// valid file must keep its rows. Read next: conll_columns.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conll_columns.hpp"

namespace encore::conll {

/// Returns whether a line, trimmed, ends a sentence: it is empty or begins with -DOCSTART-.
bool parts_sentences(std::string_view line, char delimiter);

/// Returns whether a line, as it stands in the file, has the label of the next sentence.
bool has_label_of_sentence(std::string_view line, const Format& format);

/// Splits a line into columns. White space before the first column stays, because a tab there follows an
/// empty token. An empty last column counts if the columns have a separator of their own.
void split_row(std::string_view whole, const Format& format, std::vector<std::string_view>& columns);

/// Returns the first row that cannot be a comment or the label of a sentence, or an empty one.
std::string_view first_row(std::string_view text, const Format& format);

/// Returns whether a line is a comment, in a file whose rows have `expected` columns and a label (0:
/// unknown). `columns` is scratch memory.
bool is_comment(std::string_view line, const Format& format, std::int64_t expected,
                std::vector<std::string_view>& columns);

/// Returns what is wrong with a first row that contains headings, or "".
std::string problem_of_heading(std::span<const std::string_view> columns, const Format& format);

}  // namespace encore::conll
