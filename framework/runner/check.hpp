// SPDX-License-Identifier: BSD-3-Clause
// Asks the worker for errors that no schema can find ("heads must divide width"), for every run of a plan at
// once, before anything is written or started.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

#include "config/error.hpp"
#include "record/specification.hpp"

namespace encore {

/// Runs `encore-worker check`, unless there is nothing to check. Each problem has the place where its option
/// was written. What several runs share is checked and reported once. `checked` is called now and then with
/// the number of checked runs, and of all. Throws Error when the worker itself cannot do its work.
std::vector<Problem> check_with_worker(const std::filesystem::path& worker,
                                       const std::vector<const Specification*>& specifications,
                                       const std::function<void(std::size_t, std::size_t)>& checked = {});

}  // namespace encore
