// SPDX-License-Identifier: BSD-3-Clause
// The task "embed" as a plugin.
#include <encore/plugin.hpp>

#include "embed.hpp"

ENCORE_PLUGIN("embed", "1.0.0") {
  plugin.add<encore::Kind::task, encore::embed::Embed>("embed");
}
