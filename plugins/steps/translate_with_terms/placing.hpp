// SPDX-License-Identifier: BSD-3-Clause
// Puts the spans that were taken out of a source into its translation: tags around the words that belong to
// the tagged ones, values beside the word that belongs to their neighbour. Which words belong together is
// what GeneratesText::align says. Every span is put in exactly once, and nothing of the translation is
// changed, so a bad alignment can only choose a bad place. Pure functions. translate_with_terms.cpp calls
// them. Answers of stored runs depend on the places, so a change needs a new version of the step.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <encore/generates_text.hpp>

#include "protected_spans.hpp"

namespace encore::translate_with_terms {

/// The words of a text: sequences of characters without blanks; punctuation at their ends is a word of its
/// own.
std::vector<ByteRange> words_in(std::string_view text);

/// A part of a text and the part of its translation that is known to translate it, such as a term.
struct KnownPair {
  ByteRange source, target;
};

/// Makes the tokens of known pairs belong to each other alone. Without weights it changes nothing.
void align_known(TextAlignment& alignment, const std::vector<KnownPair>& pairs);

/// Returns the translation with the removed spans of `source` in it. `stripped` is the source without them,
/// `translation` that of `stripped.text`, and `alignment` belongs to these two strings; without weights words
/// at equal shares of the length belong together. Tags are nested as in the source.
std::string with_spans(std::string_view source, const std::vector<Span>& removed, const Stripped& stripped,
                       std::string_view translation, const TextAlignment& alignment);

}  // namespace encore::translate_with_terms
