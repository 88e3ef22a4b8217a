// Lines of a CoNLL file: which are rows, comments, or ends of sentences. Place in the flow: conll.cpp reads
// rows with their labels, conll_questions.cpp rows whose labels do not count. Read next: conll_columns.hpp.
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

/// The columns of a line. White space in front stays: a tab there is behind an empty token. Behind, an empty
/// column is one where the columns are parted by a character of their own.
void split_row(std::string_view whole, const Format& format, std::vector<std::string_view>& columns);

/// The first row that cannot be taken for a comment; empty where there is none.
std::string_view first_row(std::string_view text, const Format& format);

/// Whether a line is a comment in a file whose rows have `expected` columns and a label; 0: unknown.
/// `columns` is memory for the work.
bool is_comment(std::string_view line, const Format& format, std::int64_t expected,
                std::vector<std::string_view>& columns);

/// What is wrong with a first row that names its columns; empty where it does not.
std::string problem_of_heading(std::span<const std::string_view> columns, const Format& format);

}  // namespace encore::conll
