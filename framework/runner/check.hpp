// SPDX-License-Identifier: BSD-3-Clause
// check_with_worker(): asks the worker for errors that no schema can find ("heads must divide width"),
// because only the worker has the code of layers and tasks. Place in the flow: app/planned_runs.cpp,
// app/search_session.cpp, app/bench_cases.cpp and app/plan.cpp call it for all runs of a plan at once, before
// anything is written or started -> worker/check_verb.cpp answers. It reports problems only, and changes
// nothing. Read next: record/check_request.hpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

#include "config/error.hpp"
#include "record/specification.hpp"

namespace encore::runner {

/// Runs `encore-worker check`, unless there is nothing to check. `worker` is the path of that program; the
/// specifications are those of its backend. Each problem has the place where its option was written. A
/// problem that several runs share is reported once. `checked` is called from time to time, in this thread,
/// with the number of runs that are checked and the number of those that were sent: of runs whose tables
/// earlier ones have, none is sent (record/check_request.hpp). Returns an empty list if all runs can be
/// trained. An empty `checked` is not called. The specifications are only read and must stay alive during the
/// call. Throws Error if the worker itself cannot run.
std::vector<config::Problem> check_with_worker(
    const std::filesystem::path& worker, const std::vector<const record::Specification*>& specifications,
    const std::function<void(std::size_t, std::size_t)>& checked = {});

}  // namespace encore::runner
