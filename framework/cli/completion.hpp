// What may stand next in a command line, from what the verbs themselves say of their options and arguments.
// The scripts that `exp completion` prints ask this through a hidden first argument, so that bash and zsh
// offer the same.
#pragma once

#include <string>
#include <vector>

#include "cli/verbs.hpp"

namespace encore {

/// `words` follow "exp"; the last is being typed and may be empty. Verbs, actions, options, names of runs,
/// sweeps and tags that begin so; nothing where a file is meant, or where the database cannot be read.
std::vector<std::string> completions(const std::vector<std::string>& words);

}  // namespace encore
