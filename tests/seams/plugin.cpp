// SPDX-License-Identifier: BSD-3-Clause
// This file is the plugin "seams": it registers the parts of seams/parts.hpp for the tests of the seams.
#include "seams/parts.hpp"

ENCORE_PLUGIN("seams", "1.0.0") {
  encore_seams::add_masked_words(plugin);
  encore_seams::add_pairs(plugin);
  encore_seams::add_copy(plugin);
}
