// SPDX-License-Identifier: BSD-3-Clause
// label_of() and labels_of(): short texts for values of options. Only names of runs contain them, so a change
// affects names of new runs and nothing else. Place in the flow: sweep_reader.cpp labels the values of each
// option, run_names.hpp joins labels to names.
#pragma once

#include <string>
#include <vector>

#include "config/value.hpp"

namespace encore::plan {

/// Returns the label of a value: letters, digits and . _ + - only. A table has the label of its type, a path
/// that of its last part.
std::string label_of(const config::Value& value);

/// Labels the values that one option takes: equal values share a label, others never do. Tables of one type
/// get the options in which they differ (`self_attention.heads=8`). Values that are still alike get their
/// number in the list (`table.2`).
std::vector<std::string> labels_of(const std::vector<config::Value>& values);

/// Returns a text that no other value has: 1 and 1.0 have two different ones.
std::string kind_and_text(const config::Value& value);

/// Returns whether the label is clear without the name of its option. That is so for a type or another word,
/// but not for a number, a switch, a list or a path.
bool is_word(const config::Value& value);

}  // namespace encore::plan
