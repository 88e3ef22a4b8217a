// NewExamples: the records of `data.more` that a run learns from. A share of them may be held out by a
// hash of their content, as data_split.hpp cuts sets: a record stays held out whatever is added later. A run
// never learns from a record of a set that is scored. Place in the flow: set_files.cpp, evaluate with
// --held-out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include <encore/records.hpp>
#include <encore/task.hpp>

namespace encore {

/// The records that a share of 0 < share < 1 holds out, in their order. Throws Error where there are none.
Records held_out(const Records& records, const TaskFields& fields, double share);

/// Throws Error if two sets cannot be joined, because only one of them has the fields of an option of the
/// reader.
void require_same_fields(const Records& train, const Records& added);

class NewExamples {
 public:
  /// `share` is held out; 0: nothing.
  NewExamples(TaskFields fields, double share);

  /// Takes note of a set that is scored.
  void score(const Records& set);
  /// Returns the records to learn from, in the order of `added`, with their notes and one with the counts.
  /// `train`: the training set, in which records that it has already are counted; may be null.
  Records learned(const Records& added, const Records* train) const;

 private:
  TaskFields fields_;
  double share_;
  std::unordered_set<std::uint64_t> scored_;  ///< by their hash
};

}  // namespace encore
