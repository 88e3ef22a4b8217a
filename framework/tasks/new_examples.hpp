// NewExamples: what of the records of `data.more` is learned from. A share of them may be held out by a
// hash of what they say, as data_split.hpp cuts sets: a record stays held out whatever is added later. What
// is in a set that is scored is never learned from. Place in the flow: set_files.cpp, evaluate with
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

/// Throws Error where two sets cannot be joined, since an option of the reader is answered by one of them
/// only.
void require_same_fields(const Records& train, const Records& added);

class NewExamples {
 public:
  /// `share` is held out; 0: nothing.
  NewExamples(TaskFields fields, double share);

  /// Takes note of a set that is scored.
  void score(const Records& set);
  /// What is learned from, in the order of `added`, with its notes and one that counts. `train`: where to
  /// look for records that the training set has already, to be counted; may be null.
  Records learned(const Records& added, const Records* train) const;

 private:
  TaskFields fields_;
  double share_;
  std::unordered_set<std::uint64_t> scored_;  ///< by their hash
};

}  // namespace encore
