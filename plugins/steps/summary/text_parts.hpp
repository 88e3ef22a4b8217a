// SPDX-License-Identifier: BSD-3-Clause
// Cuts a text into sentences or lines: whole words between white space, each part without white space at its
// ends. The step `split` calls these functions. Answers of stored runs follow from the rules, so a change
// needs a new version of the step. The rules for sentences are those of the passages of an index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace encore::summary {

/// Returns the number of words, which stand between white space of ASCII.
std::size_t count_words(std::string_view text);

/// What a line end means in a text: it ends a sentence, as in mails and dialogues, or it stands where a line
/// was full, so that only an empty line ends a sentence.
enum class LineEnd : std::uint8_t { ends_sentence, is_space };

/// Returns the sentences of a text, in order, as parts of it. A sentence ends behind a word that ends with
/// . ! ? or their like (encore/sentence_ends.hpp), unless a small letter of ASCII follows, and at line ends
/// as `line_end` says. The rule knows no abbreviations, so "Mr. Ott" is cut.
std::vector<std::string_view> sentences_of(std::string_view text, LineEnd line_end);

/// Returns the lines of a text that are not blank, in order, as parts of it.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace encore::summary
