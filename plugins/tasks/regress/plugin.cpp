// SPDX-License-Identifier: BSD-3-Clause
// The task "regress" as a plugin.
#include <encore/plugin.hpp>

#include "regress.hpp"

ENCORE_PLUGIN("regress", "1.0.0") {
  plugin.add<encore::Kind::task, encore::regress::Regress>("regress");
}
