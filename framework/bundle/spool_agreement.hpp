// Whether the rows of a database are what the spools of its runs say. A spool is what a worker wrote while it
// trained; whoever changes a score in a database has to forge the spool too, checksum by checksum. Place in
// the flow: asked before a bundle is written, and again by whoever opens one.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore {

struct SpoolAgreement {
  std::string difference = {};  ///< a sentence about the first row that differs; empty: none does
  std::vector<std::string> unproved =
      {};  ///< "attempt 1 of run tiny": its spool is damaged, so it proves little
};

/// Merges every spool again, into a copy of the database in the folder `scratch`, and compares points, the
/// meanings of metrics, digests, checkpoints, artifacts, plugins, what the workers reported, and whether each
/// run was completed. `folder_of`: of a run, by its id.
SpoolAgreement compare_with_spools(
    Store& store, const std::filesystem::path& scratch,
    const std::function<std::filesystem::path(const std::string& id)>& folder_of);

}  // namespace encore
