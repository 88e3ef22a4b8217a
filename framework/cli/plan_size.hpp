// What the models of an experiment file cost: asked of the worker, for each distinct model of the runs that
// are shown; as text and as JSON. Place in the flow: `exp plan FILE --size`.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/command_line.hpp"
#include "cli/planned_runs.hpp"
#include "cli/terminal.hpp"

namespace encore {

/// --size and the options of the shape: --length, --batch, --vocabulary, --labels, --picked.
void add_size_options(CommandLine& line);

/// In place of the hash of a file that need not be there: another one for each path.
std::string hash_of_path(const std::filesystem::path& path);

/// [{"runs": [names...], what `encore-worker size` answers}...] for the models of the runs `shown`, in the
/// order of the plan; runs whose models cost the same stand together. Throws ConfigErrors where a model
/// cannot be built, UsageError for a shape that cannot be.
nlohmann::ordered_json sizes_of(const CommandLine& line, const PlannedRuns& planned,
                                const std::vector<std::size_t>& shown);

void print_sizes(std::ostream& out, const Terminal& terminal, const nlohmann::ordered_json& sizes);

}  // namespace encore
