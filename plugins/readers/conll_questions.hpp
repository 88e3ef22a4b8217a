// SPDX-License-Identifier: BSD-3-Clause
// Reads a CoNLL file whose labels are missing or ignored, and writes the same file with a column of the
// model's labels. The reader "conll" (conll.hpp) calls it for `exp predict --format conll --file FILE`.
#pragma once

#include <string>

#include <encore/reader.hpp>

#include "conll_columns.hpp"

namespace encore::conll {

/// Returns the words of each sentence from the column of the token. All rows need that column and the same
/// number of columns; the label may be missing, or in any other column. Throws an Error with file and line of
/// all invalid rows, up to a limit.
Records questions_in(const InputText& file, const Format& format);

/// Returns the file with one more column per row: the label of its word from `labels`. The separator is that
/// of the other columns, or a tab if there is only one. Throws Error if a label contains the delimiter.
std::string with_labels(const InputText& file, const Records::TextLists& labels, const Format& format);

}  // namespace encore::conll
