// The measures of entity recognition, as data, and what a sentence adds to them.
// Place in the flow: tags of words (truth and prediction) -> measure_sentence -> Statistics -> the host's
// reducers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

namespace encore::ner {

/// Exact match of entities over all types, the mean over types, and each type on its own, as conlleval and
/// seqeval (default mode) count.
std::vector<Measure> measures();

/// Adds the next example to `statistics`: one true and one predicted tag per word.
void measure_sentence(std::span<const std::string> truth, std::span<const std::string> predicted,
                      Statistics& statistics);

}  // namespace encore::ner
