// SPDX-License-Identifier: BSD-3-Clause
// Limits of what is read from outside, such as the levels of JSON and the size of a file. A file beyond a
// limit is damaged or hostile; without limits a recursive reader would run out of stack, and a large file
// would fill the memory. Readers of JSON, TOML, conditions and manifests check them; readers of other formats
// have limits of their own. A limit may rise but not fall, or files that are read today are refused. With
// most_levels the stack of recursive readers grows.
#pragma once

#include <cstddef>

namespace encore {

/// The largest number of levels of nested tables, parts of a key, parentheses of a condition, and arrays and
/// objects of JSON.
inline constexpr std::size_t most_levels = 100;

/// The largest size of an experiment file; toml++ takes about 200 times as much memory.
inline constexpr std::size_t most_experiment_bytes = std::size_t{4} << 20;

/// The largest size of a manifest, a specification, or another small JSON file.
inline constexpr std::size_t most_json_bytes = std::size_t{64} << 20;

/// The largest number of options of one type of plugin, and of measures of a task. Readers refuse a manifest
/// with more, because each is compared with the others. Types that ship have 30 at most.
inline constexpr std::size_t most_declared = 1000;

/// The largest number of problems of an experiment that are collected (config/error.hpp). Further ones are
/// dropped, and after that a check may stop.
inline constexpr std::size_t most_problems = 1000;

}  // namespace encore
