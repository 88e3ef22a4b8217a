// SPDX-License-Identifier: BSD-3-Clause
// The task "tag" as a plugin.
#include <encore/plugin.hpp>

#include "tag.hpp"

ENCORE_PLUGIN("tag", "1.0.0") {
  plugin.add<encore::Kind::task, encore::tag::Tag>("tag");
}
