// Identity: the canonical text of an experiment, whose SHA-256 is the question a run answers.
// Formatting, order of keys, comments, defaults written out, and where data lies do not count; values,
// content of files, versions of types and the seed do. docs/reproducibility.md explains the choice.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "config/resolve.hpp"
#include "plan/run_point.hpp"

namespace encore {

/// Keys sorted, no blanks, floats in their shortest form that reads back equal. `files` holds the content
/// hash of every path option, by dotted key. Without a seed it is the canonical text of the group.
std::string canonical_text(const Resolved& resolved, const std::map<std::string, std::string>& files,
                           std::optional<std::int64_t> seed);

}  // namespace encore
