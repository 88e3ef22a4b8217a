// SPDX-License-Identifier: BSD-3-Clause
// The task "relation" as a plugin.
#include <encore/plugin.hpp>

#include "relation.hpp"

ENCORE_PLUGIN("relation", "1.0.0") {
  plugin.add<encore::Kind::task, encore::relation::Relation>("relation");
}
