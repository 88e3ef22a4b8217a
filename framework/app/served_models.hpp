// What `exp serve` serves: a word of its command line is a run of the database, a folder that holds a run, or
// a bundle. Place in the flow: cli/serve_verb.cpp, once and at each SIGHUP -> here -> serve/serve.hpp.
#pragma once

#include <string>
#include <vector>

#include "app/serving_requests.hpp"
#include "serve/serve.hpp"

namespace encore {

/// The models that the command line chooses now: runs first, then folders and bundles in their order. Runs of
/// a bundle are unpacked, and a line says how far that is. Throws UsageError for two of one name, for what
/// cannot be monitored and for options that contradict each other; Error for what is none of the three, a
/// bundle that is not whole, or a plugin that is missing.
std::vector<ServedRun> served_models(const ServingRequest& request, const App& app);

/// "tiny, other"
std::string names_of(const std::vector<ServedRun>& models);

}  // namespace encore
