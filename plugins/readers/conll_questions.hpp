// A CoNLL file whose labels are ignored, because they are missing or because a model gives them: its words,
// and the same file with a column for the model's labels. Place in the flow: the reader "conll" (conll.hpp)
// for `exp predict --format conll --file FILE`.
#pragma once

#include <string>

#include <encore/reader.hpp>

#include "conll_columns.hpp"

namespace encore::conll {

/// Returns the words of each sentence from the column of the token. All rows need that column and the same
/// number of columns; they may lack the label, or have it in any other column. Throws Error naming file and
/// line of all invalid rows, up to a limit.
Records questions_in(const InputText& file, const Format& format);

/// Returns the file with one more column in each row: the label of its word in `labels`. It is separated as
/// the other columns are, by a tab if there is only one. Throws Error if a label contains the delimiter.
std::string with_labels(const InputText& file, const Records::TextLists& labels, const Format& format);

}  // namespace encore::conll
