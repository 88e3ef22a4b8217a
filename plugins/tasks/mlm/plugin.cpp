// SPDX-License-Identifier: BSD-3-Clause
// The task "mlm" as a plugin.
#include <encore/plugin.hpp>

#include "mlm.hpp"

ENCORE_PLUGIN("mlm", "1.0.0") {
  plugin.add<encore::Kind::task, encore::mlm::Mlm>("mlm");
}
