// Cutting one set of records into a training, a development and a test set, each record by a hash of its
// content: it stays in its set whatever is added, removed or shuffled around it, and equal records stay
// together. Place in the flow: set_files.cpp, for `[data] split`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <encore/records.hpp>
#include <encore/task.hpp>

#include "data/split.hpp"

namespace encore {

/// The first 64 bits of the SHA-256 of the content of a record, as far as it is there at prediction: name and
/// value of the structure and optional fields in the order of their names, each string with its length in
/// front. Truth does not count, so that a corrected label moves nothing, and equal inputs with two labels are
/// not split between training and scoring. Throws Error if a structure field is missing.
std::uint64_t content_hash(const Records& records, std::size_t record, const TaskFields& fields);

/// `shares` are those of train, dev and, where there are three, test; the hash as a fraction of 2^64 falls
/// into one of them.
Split split_of(std::uint64_t hash, std::span<const double> shares);

/// The records of these numbers in this order, without the notes.
Records selected(const Records& records, std::span<const std::size_t> numbers);

/// All records of these, one after the other, with all their notes; they have the same fields.
Records joined(const std::vector<Records>& parts);

/// All three sets, each in the order of `records`; the notes go to the training set.
std::array<Records, all_splits.size()> split_records(const Records& records, const TaskFields& fields,
                                                     std::span<const double> shares);

/// The same for each label: of the records of a label, in the order of their hashes, the first share goes to
/// the training set, and so on, so that every set has the distinct records of each label in these shares but
/// for rounding. Equal records stay together; a record may change its set when others of its label are added.
/// Throws Error where the task's truth is not one text for each record.
std::array<Records, all_splits.size()> split_each_label(const Records& records, const TaskFields& fields,
                                                        std::span<const double> shares);

}  // namespace encore
