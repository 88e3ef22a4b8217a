// SPDX-License-Identifier: BSD-3-Clause
// Compares the rows of a run with its specification.json, which a second training reads, and replaces rows by
// those of the specification. A stricter rule would refuse bundles that were valid before. Place in the flow:
// pack_bundle.cpp compares before it writes a bundle, check_bundle.cpp compares and replaces when it opens
// one.
#pragma once

#include <string>

#include "config/catalogue.hpp"
#include "store/store.hpp"

namespace encore::bundle {

/// Returns a sentence about the first value of the run's rows that its specification contradicts; empty:
/// none. Paths are ignored, because they do not belong to the question of a run.
std::string difference_from_specification(store::Store& store, const store::RunRow& run,
                                          const record::Specification& specification);

/// Computes the question of the run again from settings, data, seed and the versions of the types. Returns an
/// empty string if it is equal. If it differs, returns the reason why this installation cannot be certain of
/// its computation (the question is then only a claim), or throws Error if it is certain.
std::string claimed_question(const store::RunRow& run, const record::Specification& specification,
                             const config::Catalogue& catalogue);

/// Replaces settings and data of the run by those of the specification. Settings that only describe a run
/// stay.
void take_from_specification(store::Store& store, const store::RunRow& run,
                             const record::Specification& specification);

}  // namespace encore::bundle
