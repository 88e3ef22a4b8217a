// The file `lease` of a run's folder: it holds the token of the attempt that may write checkpoints, and the
// worker looks there before it renames one. Who takes a run writes a new token there.
#pragma once

#include <string>

namespace encore {

inline constexpr const char* lease_file_name = "lease";

/// "2-0123456789abcdef" of attempt 2; never the same twice.
std::string make_lease_token(int ordinal);

}  // namespace encore
