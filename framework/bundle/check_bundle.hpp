// Whether the parts of an unpacked bundle say the same: rows, folders, digests, spools. What no look at them
// can show, that the numbers are true, is shown by training again. Place in the flow: unpack_bundle.hpp, then
// this, then whoever shows or verifies it.
#pragma once

#include <string>
#include <vector>

#include "archive/unpack_bundle.hpp"
#include "store/store.hpp"

namespace encore {

/// Returns the attempts whose spools are damaged, so that nothing stands behind their rows ("attempt 1 of run
/// tiny"). Throws Error that names the archive and what contradicts what. The database is opened (and
/// refused, as open_encore_database does) before any row of it is believed.
std::vector<std::string> check_bundle(const UnpackedBundle& bundle, const std::string& origin);

}  // namespace encore
