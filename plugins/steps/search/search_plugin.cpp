// SPDX-License-Identifier: BSD-3-Clause
// Registers the steps "search" and "keyword_search" as a plugin. It is a file of its own so that tests can
// link the steps without it. plugin_host/loader.cpp calls the registration when a worker loads the plugin.
// Experiment files and runs contain the names, so they never change.
#include <encore/plugin.hpp>

#include "search.hpp"

ENCORE_PLUGIN("search_step", "1.0.0") {
  plugin.add<encore::Kind::step, encore::search::Search>("search");
  plugin.add<encore::Kind::step, encore::search::KeywordSearch>("keyword_search");
}
