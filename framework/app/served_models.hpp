// SPDX-License-Identifier: BSD-3-Clause
// The models of `exp serve`: each word of its command line is a run of the database, a folder with a run, or
// a bundle. cli/serve_verb.cpp calls this at its start and at each SIGHUP, and passes the models to
// serve/serve.hpp.
#pragma once

#include <string>
#include <vector>

#include "app/serving_requests.hpp"
#include "serve/serve.hpp"

namespace encore::app {

/// Returns the models of the command line: runs first, then folders and bundles in their order. Unpacks
/// bundles and reports the progress. Throws UsageError for two models with one name, a model that cannot be
/// monitored, or contradicting options; Error for an unknown word, a damaged bundle or a missing plugin.
std::vector<serve::ServedRun> served_models(const ServingRequest& request, const App& app);

/// Returns the names, such as "tiny, other".
std::string names_of(const std::vector<serve::ServedRun>& models);

}  // namespace encore::app
