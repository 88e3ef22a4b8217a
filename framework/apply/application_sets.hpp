// SPDX-License-Identifier: BSD-3-Clause
// The data sets of an application: reads them, and chooses the share of the development set that its steps
// are fitted on. application_run.cpp calls these functions for a run, tests/bench/promises.cpp to draw the
// sets again. Results of stored runs follow from the choice, so it must not change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apply/application.hpp"
#include "tasks/set_files.hpp"

namespace encore::apply {

/// Reads the development and the test set and, if a step learns from it, the training set. Throws Error if a
/// file is not the planned one or lacks a field that a step reads.
tasks::RecordSets read_sets(const Application& application);

/// Adds to the development set the new examples (data.more) from which the models did not learn, except for
/// those by which `exp retrain` compares applications. Returns notes for the log. Throws ConfigError if a
/// model reads other fields than the application, so that it holds out other examples.
std::vector<std::string> add_new_examples(const Application& application, tasks::RecordSets& sets);

/// Returns the label of each record, if the truth is one text per record; otherwise null.
const Records::Texts* labels_in(const Records& records, const TaskFields& fields);

/// Returns the content hash of each record (tasks::content_hash).
std::vector<std::uint64_t> content_hashes(const Records& records, const TaskFields& fields);

/// Returns whether each record belongs to the share of the development set that steps are fitted on: of the
/// records of each label (of all records, if `labels` is null) the first `share` in the order of their
/// hashes. Where this is not a whole number, the hashes decide whether it is rounded up or down, so that each
/// record belongs to the share with the same probability, however rare its label is. Records of equal hash
/// stay together, and the hash ranges of data.split have no influence.
std::vector<bool> fit_share(const std::vector<std::uint64_t>& hashes, const Records::Texts* labels,
                            double share);

}  // namespace encore::apply
