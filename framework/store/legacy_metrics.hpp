// SPDX-License-Identifier: BSD-3-Clause
// Gives meaning to data written before version 5 of the schema: metrics that had only names, and files of
// predictions without statistics. All were of entity recognition. Only this file of the control program knows
// names of measures. It never changes.
#pragma once

#include <string>
#include <vector>

#include "base/metric.hpp"
#include "store/database.hpp"

namespace encore {

/// Returns what a metric of that name ("dev/f1", "test/recall/PER", "train/loss") meant; unknown for names
/// that did not exist.
Measure legacy_meaning(const std::string& metric);
/// Writes the meanings of all metrics that have none into the table `metric`, as versions 5 to 8 have it.
void fill_meanings(Database& database);

/// The confusion matrix, from the statistics below.
const Measure& legacy_confusion();
/// Adds the statistics of a sentence, in the columns that the meanings above need, from its tags (IOB1, IOB2
/// or BIOES). `predicted` may be shorter: the remaining words are O. Throws Error if it is longer.
void add_legacy_sentence(Statistics& to, const std::vector<std::string>& truth,
                         const std::vector<std::string>& predicted);

}  // namespace encore
