// exp verify BUNDLE: what is missing on this machine, and then the same verification as of a run of one's
// own, in a folder of its own. Nothing of the bundle is executed; its data are only read.
#pragma once

#include "cli/command_line.hpp"
#include "cli/verbs.hpp"

namespace encore {

inline constexpr const char* bundle_ending = ".tar.zst";

/// --data, --build, --with-diff and --clone.
void add_bundle_options(CommandLine& line);
/// Throws UsageError where one of them was given without a bundle.
void refuse_bundle_options(const CommandLine& line);

/// Whether the first argument is a bundle: NAME.tar.zst.
bool names_bundle(const CommandLine& line);

}  // namespace encore
