// SPDX-License-Identifier: BSD-3-Clause
// The metadata of a bundle as RO-Crate 1.1 (JSON-LD with the words of schema.org): its files, the runs that
// made them, the program, and the data they were trained on. https://w3id.org/ro/crate/1.1 defines it.
// Place in the flow: pack_bundle.cpp writes it; bundle_index.hpp reads back what Encore needs of it.
#pragma once

#include <string>

#include "archive/bundle_index.hpp"
#include "store/store.hpp"

namespace encore::bundle {

/// Returns the metadata as JSON-LD. `store` is that of the bundle. Equal runs and files give equal text,
/// because the time in it is that of the newest run.
std::string ro_crate_text(store::Store& store, const archive::BundleIndex& index);

}  // namespace encore::bundle
