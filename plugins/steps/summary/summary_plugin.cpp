// SPDX-License-Identifier: BSD-3-Clause
// Registers the steps of summaries as a plugin. It is a file of its own so that tests can link the steps
// without it. plugin_host/loader.cpp calls the registration when a worker loads the plugin. Experiment files
// and runs contain the names, so they never change.
#include <encore/plugin.hpp>

#include "abstractive_summary.hpp"
#include "extractive_summary.hpp"
#include "split.hpp"

ENCORE_PLUGIN("summary_step", "1.0.0") {
  plugin.add<encore::Kind::step, encore::summary::Split>("split");
  plugin.add<encore::Kind::step, encore::summary::ExtractiveSummary>("extractive_summary");
  plugin.add<encore::Kind::step, encore::summary::BaselineSummary>("baseline_summary");
  plugin.add<encore::Kind::step, encore::summary::AbstractiveSummary>("abstractive_summary");
}
