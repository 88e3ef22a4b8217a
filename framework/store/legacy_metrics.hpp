// What data written before version 5 of the schema means: metrics whose names alone said it, and files of
// predictions without statistics. All were of entity recognition. The only file of the control program that
// knows names of measures.
#pragma once

#include <string>
#include <vector>

#include "base/metric.hpp"
#include "store/database.hpp"

namespace encore {

/// What a metric of that name ("dev/f1", "test/recall/PER", "train/loss") meant; unknown for names that there
/// were not.
Measure legacy_meaning(const std::string& metric);
/// Writes the meanings of all metrics that have none into the table `metric`, as it is in versions 5 to 8.
void fill_meanings(Database& database);

/// The table of what was taken for what, from the statistics below.
const Measure& legacy_confusion();
/// Adds the statistics of a sentence, in the columns that the meanings above want, from its tags (IOB1, IOB2
/// or BIOES). `predicted` may be shorter: the words behind are O. Throws Error where it is longer.
void add_legacy_sentence(Statistics& to, const std::vector<std::string>& truth,
                         const std::vector<std::string>& predicted);

}  // namespace encore
