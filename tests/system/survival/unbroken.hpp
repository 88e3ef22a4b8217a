// SPDX-License-Identifier: BSD-3-Clause
// The records of a sweep as text, for the tests of this folder: two sweeps are equal if these are, whatever
// happened to one of them. Each test makes an unbroken sweep and a disturbed one, and compares them with
// expect_same(). A new table of store/schema.sql that holds results of runs must be read here too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "system/control/sandbox.hpp"

namespace encore::system_test {

/// Returns every point and digest of the final history of a run (not those that a resumed attempt replaced),
/// every result, artifact and state, one line each, in a fixed order. Values that depend on the clock
/// (seconds, tokens per second) are left out, but their steps are kept. Of curves and digests it returns only
/// those after the step `after`.
std::vector<std::string> records_as_text(const Sandbox& sandbox, std::int64_t after = -1);

/// Fails with the first few differences unless both have the same records, no step of a curve has two points,
/// no run continued after it was completed, and the database is intact.
void expect_same(const Sandbox& disturbed, const std::vector<std::string>& unbroken);

/// Whether the worker of this build runs here: a build for a GPU may be made on a machine without one.
bool real_worker_runs();

}  // namespace encore::system_test
