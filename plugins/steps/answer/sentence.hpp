// SPDX-License-Identifier: BSD-3-Clause
// sentence_of(): the sentence of a document that holds an answer. answer.cpp calls it for the field
// `sentence`. Answers of stored runs have the result, so a change of its rule needs a new version of the
// step.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace encore::answer {

/// Returns the sentence that holds the bytes [begin, end) of a document, without white space at its ends. A
/// sentence ends at a line end, or behind a ".", "!" or "?" with closing quotation marks and brackets, where
/// white space follows. An end within the bytes does not count. The rule knows no abbreviations, so "Mr."
/// ends a sentence too.
std::string sentence_of(std::string_view document, std::size_t begin, std::size_t end);

}  // namespace encore::answer
