// What the bases of an experiment file say and the experiment does not use, because a nearer file says it in
// its own way (experiment_file.hpp lists the rules). Such a replacement is as documented, and easily
// overseen. Place in the flow: sources of an ExperimentFile -> here -> notes of `exp plan` and `exp run`. The
// experiment itself does not depend on it.
#pragma once

#include <string>
#include <vector>

#include "config/experiment_file.hpp"

namespace encore {

/// One note each, with the places of both sides: a [sweep] or [search] beside that of a nearer file, and
/// options of Encore's own in a [data] whose type a nearer file changes, other than those it sets itself.
/// `sources` as ExperimentFile has them; files that are no TOML have no notes.
std::vector<std::string> unused_tables(const std::vector<SourceFile>& sources);

}  // namespace encore
