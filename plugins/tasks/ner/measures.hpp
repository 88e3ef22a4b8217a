// SPDX-License-Identifier: BSD-3-Clause
// measures(): the declarations of the measures of entity recognition (precision, recall and F1 of entities).
// measure_sentence(): the counts that a sentence adds to them. ner.cpp calls measure_sentence() with the true
// and predicted tags of the words; the reducers of the host compute the values from the counts
// (encore/measure.hpp). The names of the measures never change, because runs store them and experiment files
// name them in train.select.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

namespace encore::ner {

/// Returns the measures of exactly matching entities: over all types together, as the mean over types, and
/// for each type, as conlleval and seqeval (default mode) count.
std::vector<Measure> measures();

/// Adds one sentence to `statistics`: a true and a predicted tag for each word.
void measure_sentence(std::span<const std::string> truth, std::span<const std::string> predicted,
                      Statistics& statistics);

}  // namespace encore::ner
