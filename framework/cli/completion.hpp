// Completes command lines from the forms of the verbs. The scripts of `exp completion` call it through a
// hidden first argument, so bash and zsh offer the same words.
#pragma once

#include <string>
#include <vector>

#include "cli/verbs.hpp"

namespace encore {

/// `words` follow "exp"; the last is being typed and may be empty. Verbs, actions, options, names of runs,
/// sweeps and tags with this beginning; nothing for a file, or if the database cannot be read.
std::vector<std::string> completions(const std::vector<std::string>& words);

}  // namespace encore
