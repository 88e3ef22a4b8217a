// Notes about what the bases of an experiment file say and the experiment does not use.
// Place in the flow: exp plan and exp run have read the file -> here, before anything is trained.
#pragma once

#include <iosfwd>
#include <vector>

#include "config/experiment_file.hpp"

namespace encore {

/// A line for each note of unused_tables (config/unused_tables.hpp). `sources` as ExperimentFile has them.
void print_base_notes(std::ostream& out, const std::vector<SourceFile>& sources);

}  // namespace encore
