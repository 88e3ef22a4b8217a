// SPDX-License-Identifier: BSD-3-Clause
// Compares the rows of a database with the spools of its runs. A worker wrote the spool (a file of events)
// during training, so a forger who changes a score in a database must forge the spool too, with its
// checksums. Place in the flow: pack_bundle.cpp calls compare_with_spools() before it writes a bundle,
// check_bundle.cpp when it opens one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore::bundle {

struct SpoolAgreement {
  std::string difference = {};  ///< a sentence about the first row that differs; empty: none does
  std::vector<std::string> unproved =
      {};  ///< "attempt 1 of run tiny": its spool is damaged, so it proves little
};

/// Merges every spool again, into a copy of the database in the folder `scratch`, and compares points, the
/// meanings of metrics, digests, checkpoints, artifacts, plugins, the reports of the workers, and whether
/// each run was completed. `folder_of`: the folder of a run, by its id. Throws DatabaseError if that takes
/// more than `steps` of SQLite (store/step_budget.hpp).
SpoolAgreement compare_with_spools(
    store::Store& store, const std::filesystem::path& scratch,
    const std::function<std::filesystem::path(const std::string& id)>& folder_of,
    std::uint64_t steps = std::numeric_limits<std::uint64_t>::max());

}  // namespace encore::bundle
