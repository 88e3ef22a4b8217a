// SPDX-License-Identifier: BSD-3-Clause
// The verdict of a verification as text: `exp verify` prints all lines (verify_screen.hpp), `exp show` the
// first line (show_text.cpp).
#pragma once

#include <string>

#include "store/store.hpp"

namespace encore::cli {

/// Returns "equal: 77 digests of steps 0 to 20 agree (2 threads)", "different from step 5 on, first in
/// head.bias", ...
std::string verdict_text(const store::VerificationRow& verification);
/// Returns the lines below verdict_text(): digests, fields of the environment, distances; empty for an equal
/// verdict.
std::string verdict_details(const store::VerificationRow& verification);

}  // namespace encore::cli
