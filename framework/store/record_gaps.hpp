// SPDX-License-Identifier: BSD-3-Clause
// A record gap is what the record of a run lacks because a spool was damaged, cut, removed or refused. Gaps
// follow from what merges have noted (merge.hpp) and from the steps that have a loss. `exp run`, `exp show`
// and `exp db check` name them.
#pragma once

#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore {

struct RecordGap {
  std::string text;   ///< "attempt-0001.spool: bytes 4711 to 4747 are damaged: record 19 is lost"
  bool lost = false;  ///< false: it was empty, or a later attempt has recorded the same steps again
};

/// Returns an empty list for nearly all runs. Missing steps are checked for completed runs only: other runs
/// may still record them.
std::vector<RecordGap> find_record_gaps(Store& store, const RunRow& run);

}  // namespace encore
