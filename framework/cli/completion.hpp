// SPDX-License-Identifier: BSD-3-Clause
// Completes command lines from the forms of the verbs. The scripts of `exp completion` call it through a
// hidden first argument, so bash and zsh offer the same words.
#pragma once

#include <string>
#include <vector>

#include "cli/verbs.hpp"

namespace encore::cli {

/// Returns the completions of a command line. `words` follow "exp"; the last is being typed and may be empty.
/// The result has the verbs, actions, options, names of runs, sweeps and tags that begin with it. It is empty
/// for a file, or if the database cannot be read.
std::vector<std::string> completions(const std::vector<std::string>& words);

}  // namespace encore::cli
