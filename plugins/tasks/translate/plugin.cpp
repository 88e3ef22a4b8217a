// SPDX-License-Identifier: BSD-3-Clause
// Registers the task "translate" as a plugin. It is a file of its own so that tests can link the task without
// it. plugin_host/loader.cpp calls the registration when a worker loads the plugin. Experiment files and runs
// contain the name, so it never changes.
#include <encore/plugin.hpp>

#include "translate.hpp"

ENCORE_PLUGIN("translate", "1.0.0") {
  plugin.add<encore::Kind::task, encore::translate::Translate>("translate");
}
