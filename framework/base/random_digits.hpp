// SPDX-License-Identifier: BSD-3-Clause
// random_digits(): hexadecimal digits from the random source of the system, for ids, names and secrets that
// must be unique (store/add_runs.cpp, runner/slurm/job_name.cpp and others). No result of a run depends on
// them; random numbers of training are in encore/random.hpp.
#pragma once

#include <cstddef>
#include <string>

namespace encore {

/// Returns `count` lower-case hexadecimal digits. Any thread may call it.
std::string random_digits(std::size_t count);

}  // namespace encore
