// SPDX-License-Identifier: BSD-3-Clause
// The reader "tsv" as a plugin.
#include <encore/plugin.hpp>

#include "tsv.hpp"

ENCORE_PLUGIN("tsv", "1.0.0") {
  plugin.add<encore::Kind::reader, encore::tsv::TsvReader>("tsv");
}
