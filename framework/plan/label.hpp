// Labels: short texts for values, as they stand in names of runs and nowhere else.
// Place in the flow: sweep_reader.cpp labels the values of each option, run_names.hpp joins labels to names.
#pragma once

#include <string>
#include <vector>

#include "config/value.hpp"

namespace encore {

/// How a value is called in a run's name: letters, digits and . _ + - only; a table by its type, a
/// path by its last part.
std::string label_of(const Value& value);

/// Of the values that one option takes: equal ones share a label, others never do. Tables of one type are
/// told apart by the options in which they differ (`self_attention.heads=8`), what is left by its number in
/// the list (`table.2`).
std::vector<std::string> labels_of(const std::vector<Value>& values);

/// A text that no other value has: 1 and 1.0 are two.
std::string kind_and_text(const Value& value);

/// Whether the label says what it is without the name of its option: a type or another word, and no number,
/// switch, list or path.
bool is_word(const Value& value);

}  // namespace encore
