// The records of a sweep as text: two sweeps are equal if these are, whatever happened to one of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "system/control/sandbox.hpp"

namespace encore::system_test {

/// Returns every point and digest that counts, every result, artifact and state, one line each, in a fixed
/// order. For values that depend on the clock (seconds, tokens per second) only the step. For curves and
/// digests only those after the step `after`.
std::vector<std::string> told(const Sandbox& sandbox, std::int64_t after = -1);

/// Fails with the first few differences unless both have the same records, no point counts twice, no run
/// continued after it was completed, and the database is intact.
void expect_same(const Sandbox& disturbed, const std::vector<std::string>& unbroken);

/// Whether the worker of this build runs here: a build for a GPU may be made on a machine without one.
bool real_worker_runs();

}  // namespace encore::system_test
