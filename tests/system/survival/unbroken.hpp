// What a sweep has told, as text: two sweeps are the same when these are, whatever happened to one of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "system/control/sandbox.hpp"

namespace encore::system_test {

/// Every point and digest that counts, every result, artifact and state, one line each, in a fixed order. Of
/// what depends on the clock (seconds, tokens per second) the step alone.
/// Of curves and digests only what comes after a step.
std::vector<std::string> told(const Sandbox& sandbox, std::int64_t after = -1);

/// Fails, naming the first few differences, unless both have told the same; and unless no point counts twice,
/// no run went on after it was completed, and the database is whole.
void expect_same(const Sandbox& disturbed, const std::vector<std::string>& unbroken);

/// Whether the worker of this build runs here: one for a GPU is also built on machines without.
bool real_worker_runs();

}  // namespace encore::system_test
