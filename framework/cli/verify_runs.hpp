// The verification of runs of an open store, one after the other: of the user's own (verify_verb.cpp), and of
// an unpacked bundle (bundle_verify.cpp).
#pragma once

#include <functional>
#include <vector>

#include "cli/command_line.hpp"
#include "store/store.hpp"

namespace encore {

/// Says, in the specification of a run, where on this machine its files are.
using PlaceFiles = std::function<void(const RunRow& run, Specification& specification)>;

/// By the options of exp verify. What is wrong with one of the runs is said, as an Error, before the first is
/// trained. Prints the verdicts, as JSON a list unless `one` was asked for, and keeps them in the store.
/// Returns the exit code.
int verify_runs(const CommandLine& line, Store& store, const std::vector<RunRow>& runs, bool one,
                const PlaceFiles& place = {});

}  // namespace encore
