// SPDX-License-Identifier: BSD-3-Clause
// The entry point of the plugin "seams": registers the parts of seams/parts.hpp. seams_test.cpp loads it like
// a plugin from outside; the plugin is not installed.
#include "seams/parts.hpp"

ENCORE_PLUGIN("seams", "1.0.0") {
  encore_seams::add_masked_words(plugin);
  encore_seams::add_pairs(plugin);
  encore_seams::add_copy(plugin);
}
