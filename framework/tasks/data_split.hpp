// SPDX-License-Identifier: BSD-3-Clause
// Splits one set of records into a training, a development and a test set ([data] split), each record by a
// hash of its inputs. A record stays in its set if others are added, removed or shuffled (only nearly with
// data.stratify: see split_each_label), and records with equal inputs stay together. set_files.cpp calls it
// for a run, new_examples.cpp for examples that are held out. Hash, split_of() and the order and rounding in
// split_each_label() decide the sets of runs, so they never change. A new rule needs a new option.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <encore/records.hpp>
#include <encore/task.hpp>

#include "data/split.hpp"

namespace encore::tasks {

/// Returns the first 64 bits of the SHA-256 of a record's inputs: name and value of the fields in
/// fields.structure (which every record has) and of those in fields.optional that exist, in the order of
/// their names, each string after its length. The truth is left out, so that a corrected label moves no
/// record, and equal inputs with two labels are not split between training and scoring. Throws Error if a
/// field of fields.structure is missing.
std::uint64_t content_hash(const Records& records, std::size_t record, const TaskFields& fields);

/// Returns the set into which the hash falls, as a fraction of 2^64. `shares` are those of train, dev and, if
/// there are three, test. With two shares the test set stays empty.
data::Split split_of(std::uint64_t hash, std::span<const double> shares);

/// Returns the records with these numbers, in this order, without Records::notes (what the reader reports
/// about the file).
Records selected(const Records& records, std::span<const std::size_t> numbers);

/// Returns the records of all parts, one after the other, with all notes. The parts must have the same
/// fields.
Records joined(const std::vector<Records>& parts);

/// Returns all three sets, each in the order of `records`; the training set gets the notes. The test set is
/// empty if there are two shares.
std::array<Records, data::all_splits.size()> split_records(const Records& records, const TaskFields& fields,
                                                           std::span<const double> shares);

/// Returns the number of different labels, which callers use to check that each label can be in each set.
/// Throws Error unless the task's truth is one text per record.
std::size_t count_labels(const Records& records, const TaskFields& fields);

/// Splits the records of each label: in the order of their hashes, the first share goes to the training set,
/// the next to the development set, and so on. So every set has the distinct records of each label in these
/// shares, up to rounding. Equal records stay together; a record may change its set if others with its label
/// are added. Throws Error unless the task's truth is one text per record.
std::array<Records, data::all_splits.size()> split_each_label(const Records& records,
                                                              const TaskFields& fields,
                                                              std::span<const double> shares);

}  // namespace encore::tasks
