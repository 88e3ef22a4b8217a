// SPDX-License-Identifier: BSD-3-Clause
// The file `lease` in a run's folder. It holds the token of the one attempt that may write checkpoints.
// attempts.cpp writes it when a process takes the run; the worker compares it with its own token before it
// renames a checkpoint into place.
#pragma once

#include <string>

namespace encore::store {

inline constexpr const char* lease_file_name = "lease";

/// Returns a new token, such as "2-0123456789abcdef" for attempt 2. It is never the same twice.
std::string make_lease_token(int ordinal);

}  // namespace encore::store
