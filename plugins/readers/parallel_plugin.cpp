// SPDX-License-Identifier: BSD-3-Clause
// The reader "parallel" as a plugin.
#include <encore/plugin.hpp>

#include "parallel.hpp"

ENCORE_PLUGIN("parallel", "1.0.0") {
  plugin.add<encore::Kind::reader, encore::parallel::Parallel>("parallel");
}
