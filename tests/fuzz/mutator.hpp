// Mutations that every target can use: of bytes and text, with words that mean something in its format, and
// of JSON as a tree.
#pragma once

#include <string>
#include <vector>

#include "fuzz/random.hpp"

namespace encore::fuzz {

using Words = std::vector<std::string>;

/// One to eight changes: bits and bytes, what is taken out, doubled or moved, words of the format, numbers at
/// the edges of their types, a part of another input.
void mutate_bytes(std::string& input, const Words& words, const std::vector<std::string>& others,
                  Random& random);

/// Values of JSON that are replaced by others, by those of another type, or taken out. What is no JSON is
/// changed as bytes.
void mutate_json(std::string& text, Random& random);

/// Numbers and texts at the edges, as JSON writes them.
const Words& json_words();

}  // namespace encore::fuzz
