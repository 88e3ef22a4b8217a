// SPDX-License-Identifier: BSD-3-Clause
// Mutations that every target can use: of bytes and text, with words that mean something in its format, and
// of JSON as a tree.
#pragma once

#include <string>
#include <vector>

#include "fuzz/random.hpp"

namespace encore::fuzz {

using Words = std::vector<std::string>;

/// Makes one to eight changes: bits and bytes, removed, doubled or moved parts, words of the format, numbers
/// at the edges of their types, a part of another input.
void mutate_bytes(std::string& input, const Words& words, const std::vector<std::string>& others,
                  Random& random);

/// Replaces values of JSON by others or by those of another type, or removes them. Invalid JSON is changed as
/// bytes.
void mutate_json(std::string& text, Random& random);

/// Numbers and strings at the limits, as JSON writes them.
const Words& json_words();

}  // namespace encore::fuzz
