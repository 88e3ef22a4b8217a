// SPDX-License-Identifier: BSD-3-Clause
// The measures of entity recognition as data, and what a sentence adds to them. ner.cpp calls
// measure_sentence() with the true and predicted tags of the words; the host's reducers compute the values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

namespace encore::ner {

/// Returns exact match of entities over all types, the mean over types, and each type alone, as conlleval and
/// seqeval (default mode) count.
std::vector<Measure> measures();

/// Adds the next example to `statistics`: one true and one predicted tag per word.
void measure_sentence(std::span<const std::string> truth, std::span<const std::string> predicted,
                      Statistics& statistics);

}  // namespace encore::ner
