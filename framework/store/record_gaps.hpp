// SPDX-License-Identifier: BSD-3-Clause
// find_record_gaps() lists what the record of a run lacks because a spool (a worker's event file) was
// damaged, cut, removed or refused. It derives the gaps from the damage events of merge.hpp and from the
// steps that have a loss. `exp run`, `exp show` and `exp db check` print them. Nothing stores the result, so
// its wording may change.
#pragma once

#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore::store {

struct RecordGap {
  std::string text;   ///< "attempt-0001.spool: bytes 4711 to 4747 are damaged: record 19 is lost"
  bool lost = false;  ///< false: nothing was in it, or a later attempt has recorded the steps again
};

/// Returns the gaps; nearly all runs have none. Missing steps are searched in completed runs only, because
/// other runs may still record them.
std::vector<RecordGap> find_record_gaps(Store& store, const RunRow& run);

}  // namespace encore::store
