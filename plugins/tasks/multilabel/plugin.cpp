// SPDX-License-Identifier: BSD-3-Clause
// The task "multilabel" as a plugin.
#include <encore/plugin.hpp>

#include "multilabel.hpp"

ENCORE_PLUGIN("multilabel", "1.0.0") {
  plugin.add<encore::Kind::task, encore::multilabel::Multilabel>("multilabel");
}
