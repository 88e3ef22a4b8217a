// SPDX-License-Identifier: BSD-3-Clause
// The processors for which a package of Encore has programs (cmake/package.sh), and whether this machine can
// run them. runner/programs.cpp chooses by them. A new processor is added at the place of its abilities.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace encore::world {

/// A processor by the name that `g++ -march=` and ENCORE_CPU_ARCH take.
struct Processor {
  const char* name;
  const char* abilities;  ///< what programs for it use, in words
  bool (*runs_here)();    ///< whether this machine and its system can run programs for it
};

/// Returns the processors, the most capable one first.
std::span<const Processor> processors();
/// Returns the processor of this name, or null.
const Processor* find_processor(std::string_view name);

}  // namespace encore::world
