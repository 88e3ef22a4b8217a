// SPDX-License-Identifier: BSD-3-Clause
// The task "classify" as a plugin.
#include <encore/plugin.hpp>

#include "classify.hpp"

ENCORE_PLUGIN("classify", "1.0.0") {
  plugin.add<encore::Kind::task, encore::classify::Classify>("classify");
}
