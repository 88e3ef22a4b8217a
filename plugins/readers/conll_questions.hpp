// A CoNLL file whose labels do not count, because they are missing or because a model is to give them: its
// words, and the same file with a column for the model's labels. Place in the flow: the reader "conll"
// (conll.hpp) for `exp predict --format conll --file FILE`.
#pragma once

#include <string>

#include <encore/reader.hpp>

#include "conll_columns.hpp"

namespace encore::conll {

/// The words of each sentence, as they stand in the column of the token. Rows need the column of the token
/// and all the same columns; which of the others is the label, and whether there is one, does not matter.
/// Throws Error naming file and line of all rows that cannot be read, up to a limit.
Records questions_in(const InputText& file, const Format& format);

/// The file with one more column in each row: the label of its word in `labels`. It is parted from the others
/// as they are from each other, by a tab where there is one column only. Throws Error for a label that this
/// delimiter would part.
std::string with_labels(const InputText& file, const Records::TextLists& labels, const Format& format);

}  // namespace encore::conll
