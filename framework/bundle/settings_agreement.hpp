// Compares the rows of a run with its specification, which is what training again reads, and replaces rows by
// those of the specification. Place in the flow: pack_bundle.hpp compares before it writes a bundle,
// check_bundle.hpp compares and replaces when it opens one.
#pragma once

#include <string>

#include "config/catalogue.hpp"
#include "store/store.hpp"

namespace encore {

/// A sentence about the first value of the run's rows that its specification contradicts; empty: none does.
/// Paths are not compared: where a file lay is no part of what was asked.
std::string difference_from_specification(Store& store, const RunRow& run,
                                          const Specification& specification);

/// What is asked follows from settings, data, seed and the versions of the types. Returns why it could not be
/// computed again from them, so that the question is a claim; empty: it is what they ask. Throws Error where
/// it is another one.
std::string claimed_question(const RunRow& run, const Specification& specification,
                             const Catalogue& catalogue);

/// Settings and data of the run become those of the specification. Settings that only describe stay.
void take_from_specification(Store& store, const RunRow& run, const Specification& specification);

}  // namespace encore
