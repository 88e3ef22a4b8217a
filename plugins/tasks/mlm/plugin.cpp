// SPDX-License-Identifier: BSD-3-Clause
// Registers the task "mlm", masked language modelling, as a plugin. It is a file of its own so that tests can
// link the task without it. plugin_host/loader.cpp calls the registration when a worker loads the plugin.
// Experiment files and runs contain the name "mlm" of the task, so it never changes. Raise the version if
// equal options and data would give other results than before.
#include <encore/plugin.hpp>

#include "mlm.hpp"

ENCORE_PLUGIN("mlm", "1.0.0") {
  plugin.add<encore::Kind::task, encore::mlm::Mlm>("mlm");
}
