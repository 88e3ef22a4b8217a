// SPDX-License-Identifier: BSD-3-Clause
// Writes options as Markdown tables. docs/reference/options.md and the pages in docs/reference/plugins/ are
// generated with it, and `exp plugin info` prints it. No program reads the pages back, so their form may
// change; after a change, write them again (plugin_pages_test).
#pragma once

#include <string>
#include <vector>

#include <encore/options.hpp>

#include "config/manifest.hpp"

namespace encore::config {

/// Returns a row per option: name, type with unit, default (or "required", or "-"), range or choices, help.
std::string markdown_options(const Schema& schema);

/// Returns `document` in which the lines between `<!-- options of NAME -->` and `<!-- end -->` are replaced
/// by the core schema of that name (experiment, data, model, train, sweep). Throws Error for a name without a
/// schema or a missing end.
std::string with_option_tables(const std::string& document);

/// Returns the page of a plugin: what it is for, then for each type its summary, the way an experiment names
/// it, and its options. The page does not depend on where or when the plugin was built.
std::string markdown_plugin(const Manifest& manifest);
/// Returns the page that lists all plugins, by kind and name.
std::string markdown_plugin_index(const std::vector<Manifest>& manifests);

}  // namespace encore::config
