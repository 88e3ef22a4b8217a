// SPDX-License-Identifier: BSD-3-Clause
// The file `lease` of a run's folder holds the token of the attempt that may write checkpoints. The worker
// reads it before it renames one. A process that takes over the run writes a new token.
#pragma once

#include <string>

namespace encore {

inline constexpr const char* lease_file_name = "lease";

/// Returns "2-0123456789abcdef" for attempt 2; never the same twice.
std::string make_lease_token(int ordinal);

}  // namespace encore
