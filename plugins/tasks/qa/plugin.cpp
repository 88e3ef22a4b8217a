// SPDX-License-Identifier: BSD-3-Clause
// The task "qa" as a plugin.
#include <encore/plugin.hpp>

#include "qa.hpp"

ENCORE_PLUGIN("qa", "1.0.0") {
  plugin.add<encore::Kind::task, encore::qa::Qa>("qa");
}
