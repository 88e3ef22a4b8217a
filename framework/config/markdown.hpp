// Options as a Markdown table: what docs/experiment_file.md is written from.
#pragma once

#include <string>

#include <encore/options.hpp>

namespace encore {

/// One row per option: name, type with unit, default (or "required", or "-"), range or choices, help.
std::string markdown_options(const Schema& schema);

/// `document` with the lines between `<!-- options of NAME -->` and `<!-- end -->` replaced by the core
/// schema of that name (experiment, task, data, model, train, sweep). Throws Error for a name that has no
/// schema or a missing end.
std::string with_option_tables(const std::string& document);

}  // namespace encore
