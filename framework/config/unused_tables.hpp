// SPDX-License-Identifier: BSD-3-Clause
// Finds what the base files of an experiment set and the experiment does not use, because a nearer file
// replaces it (experiment_file.hpp lists the rules). Such a replacement is documented but easily overlooked.
// The flow is: sources of an ExperimentFile -> here -> notices of `exp plan` and `exp run`. The experiment
// itself does not depend on it.
#pragma once

#include <string>
#include <vector>

#include "config/experiment_file.hpp"

namespace encore::config {

/// Returns one note each, with the places of both sides: a [sweep] or [search] beside that of a nearer file,
/// and options of Encore's own in a [data] whose type a nearer file changes, unless it sets them itself.
/// `sources` are those of an ExperimentFile. Files with invalid TOML have no notes.
std::vector<std::string> unused_tables(const std::vector<SourceFile>& sources);

}  // namespace encore::config
