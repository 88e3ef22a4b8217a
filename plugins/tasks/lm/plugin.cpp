// SPDX-License-Identifier: BSD-3-Clause
// The task "lm" as a plugin.
#include <encore/plugin.hpp>

#include "lm.hpp"

ENCORE_PLUGIN("lm", "1.0.0") {
  plugin.add<encore::Kind::task, encore::lm::Lm>("lm");
}
