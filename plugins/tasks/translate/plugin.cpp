// SPDX-License-Identifier: BSD-3-Clause
// The task "translate" as a plugin.
#include <encore/plugin.hpp>

#include "translate.hpp"

ENCORE_PLUGIN("translate", "1.0.0") {
  plugin.add<encore::Kind::task, encore::translate::Translate>("translate");
}
