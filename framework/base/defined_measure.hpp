// SPDX-License-Identifier: BSD-3-Clause
// Checks whether a data set can define a measure. F1 is 0 for every model if no example has a true label, and
// BLEU is 0 if no reference has four words. Place in the flow: statistics of the development set ->
// is_defined_on() -> the choice of the best checkpoint (record/best_checkpoint.hpp). If it returns false, a
// run does not select by that measure, so its rules decide which checkpoint is the best.
#pragma once

#include <span>
#include <string_view>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

namespace encore {

/// Returns false if the measure of this name ("f1", "f1/PER") is undefined on the data set for all
/// predictions. Returns true for a name that `measures` does not contain, such as "loss", and for a measure
/// without a reducer.
bool is_defined_on(std::span<const Measure> measures, std::string_view name, const Statistics& statistics);

}  // namespace encore
