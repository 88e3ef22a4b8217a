// Options as Markdown tables: what docs/reference/options.md and the pages in docs/reference/plugins/
// are written from.
#pragma once

#include <string>
#include <vector>

#include <encore/options.hpp>

#include "config/manifest.hpp"

namespace encore {

/// One row per option: name, type with unit, default (or "required", or "-"), range or choices, help.
std::string markdown_options(const Schema& schema);

/// `document` with the lines between `<!-- options of NAME -->` and `<!-- end -->` replaced by the core
/// schema of that name (experiment, data, model, train, sweep). Throws Error for a name that has no
/// schema or a missing end.
std::string with_option_tables(const std::string& document);

/// The page of a plugin: for each type its summary, how an experiment names it, its options. Nothing that
/// depends on where or when it was built.
std::string markdown_plugin(const Manifest& manifest);
/// The page that lists them, by kind and name.
std::string markdown_plugin_index(const std::vector<Manifest>& manifests);

}  // namespace encore
