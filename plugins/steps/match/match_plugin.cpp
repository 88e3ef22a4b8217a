// SPDX-License-Identifier: BSD-3-Clause
// Registers the step "match" as a plugin. It is a file of its own so that tests can link the step without it.
// plugin_host/loader.cpp calls it when a worker loads the plugin. Experiment files and runs contain the name,
// so it never changes.
#include <encore/plugin.hpp>

#include "match.hpp"

ENCORE_PLUGIN("match_step", "1.0.0") {
  plugin.add<encore::Kind::step, encore::match::Match>("match");
}
