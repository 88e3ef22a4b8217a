// SPDX-License-Identifier: BSD-3-Clause
// Registers the reader "tsv" as a plugin. It is a file of its own so that tests can link the reader without
// it.
#include <encore/plugin.hpp>

#include "tsv.hpp"

ENCORE_PLUGIN("tsv", "1.0.0") {
  plugin.add<encore::Kind::reader, encore::tsv::TsvReader>("tsv");
}
