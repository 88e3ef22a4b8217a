// SPDX-License-Identifier: BSD-3-Clause
// NewExamples divides the records of `data.more`, the examples that were added after an earlier training. A
// share of them may be held out from training by a hash of their content (data_split.hpp), so a record stays
// held out whatever is added later. A run never learns from a record that its development or test set
// contains. set_files.cpp uses the class for a run's training set, apply/ for an application's development
// set; evaluate --held-out uses held_out().
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include <encore/records.hpp>
#include <encore/task.hpp>

namespace encore::tasks {

/// Returns the records that a share (0 < share < 1) holds out, in their order. Throws Error if there are
/// none.
Records held_out(const Records& records, const TaskFields& fields, double share);

/// Throws Error if the two sets cannot be joined, because only one has the fields that an option of the
/// reader adds.
void require_same_fields(const Records& train, const Records& added);

class NewExamples {
 public:
  /// `share` of the added records is held out; 0: none.
  NewExamples(TaskFields fields, double share);

  /// Records the content of a set that is scored, so that learned() leaves it out.
  void score(const Records& set);
  /// Returns the held-out records of `added` that an application adds to its development set, in their order,
  /// with a note of the counts. Left out are those that the smaller share `compared` would hold out, because
  /// `exp retrain` compares applications by them, and those that a scored set has already. The note warns of
  /// scored records from which the models learn.
  Records fitted_on(const Records& added, double compared) const;
  /// Returns the records of `added` to learn from, in their order, with their notes and a note of the counts.
  /// `train`: the training set, whose records are counted as already present; may be null.
  Records learned(const Records& added, const Records* train) const;

 private:
  TaskFields fields_;
  double share_;
  std::unordered_set<std::uint64_t> scored_;  ///< content hashes of the scored records
};

}  // namespace encore::tasks
