// What no schema can say ("heads must divide width") is asked of the worker, for every run of a plan at once,
// before anything is written or started.
#pragma once

#include <filesystem>
#include <vector>

#include "config/error.hpp"
#include "record/specification.hpp"

namespace encore {

/// Runs `encore-worker check`, unless there is nothing to ask. Each problem has the place where its option
/// was written. What several runs share is asked and said once. Throws Error when the worker itself cannot do
/// its work.
std::vector<Problem> check_with_worker(const std::filesystem::path& worker,
                                       const std::vector<const Specification*>& specifications);

}  // namespace encore
