// SPDX-License-Identifier: BSD-3-Clause
// The measures of entity recognition (precision, recall and F1 of entities) as data, and the counts that a
// sentence adds to them. ner.cpp calls measure_sentence() with the true and predicted tags of the words; the
// host's reducers compute the values. Runs store the names of the measures, and experiment files name them in
// train.select, so they never change.
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
