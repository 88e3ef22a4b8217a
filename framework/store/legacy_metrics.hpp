// SPDX-License-Identifier: BSD-3-Clause
// Gives meaning to data of old versions of the schema. Before version 5, metrics had only names, and files of
// predictions had no statistics; all were of entity recognition. Before version 9, all runs shared one
// meaning for each name. upgrade.cpp, analysis/predictions.cpp and report/classes.cpp call it. No other code
// of the control program may compare names of measures. It never changes, because databases in the field have
// been through these steps.
#pragma once

#include <string>
#include <vector>

#include "base/metric.hpp"
#include "store/database.hpp"

namespace encore::store {

/// Returns what a metric of that name ("dev/f1", "test/recall/PER", "train/loss") meant; unknown for names
/// that did not exist.
Measure legacy_meaning(const std::string& metric);
/// Writes the missing meanings into the table `metric`, in the form of versions 5 to 8.
void fill_meanings(Database& database);

/// The confusion matrix that add_legacy_sentence() fills.
const Measure& legacy_confusion();
/// Adds the statistics of a sentence to `to`, computed from its tags (IOB1, IOB2 or BIOES), in the columns
/// that legacy_meaning() refers to. `predicted` may be shorter: the remaining words count as O. Throws Error
/// if it is longer.
void add_legacy_sentence(Statistics& to, const std::vector<std::string>& truth,
                         const std::vector<std::string>& predicted);

/// The migration step to version 9. Before that version, the database stored one meaning for each name of a
/// metric, that of the last worker, even if runs of several tasks used the name for different measures. This
/// gives each attempt the meanings of its own metrics: from its spool if that file still exists, otherwise
/// from the table `metric`. Then it removes the columns with meanings from that table. (before_9.cpp)
void give_meanings_to_attempts(Database& database);

}  // namespace encore::store
