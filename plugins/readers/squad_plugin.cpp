// SPDX-License-Identifier: BSD-3-Clause
// The reader "squad" as a plugin.
#include <encore/plugin.hpp>

#include "squad.hpp"

ENCORE_PLUGIN("squad", "1.0.0") {
  plugin.add<encore::Kind::reader, encore::squad::SquadReader>("squad");
}
