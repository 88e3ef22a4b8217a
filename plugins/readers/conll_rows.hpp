// Decides which lines of a CoNLL file are rows, comments, or ends of sentences. Place in the flow: conll.cpp
// reads rows with their labels, conll_questions.cpp rows whose labels are ignored. Read next:
// conll_columns.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conll_columns.hpp"

namespace encore::conll {

/// Whether a line without the white space around it ends a sentence: it is empty or begins with -DOCSTART-.
bool parts_sentences(std::string_view line, char delimiter);

/// Returns the columns of a line. White space in front stays: a tab there follows an empty token. Behind, an
/// empty column counts if the columns have a separator of their own.
void split_row(std::string_view whole, const Format& format, std::vector<std::string_view>& columns);

/// Returns the first row that cannot be a comment, or an empty one.
std::string_view first_row(std::string_view text, const Format& format);

/// Whether a line is a comment in a file whose rows have `expected` columns and a label; 0: unknown.
/// `columns` is memory for the work.
bool is_comment(std::string_view line, const Format& format, std::int64_t expected,
                std::vector<std::string_view>& columns);

/// Returns what is wrong with a first row that names its columns, or "".
std::string problem_of_heading(std::span<const std::string_view> columns, const Format& format);

}  // namespace encore::conll
