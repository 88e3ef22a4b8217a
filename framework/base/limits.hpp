// Limits of what is read from outside: beyond them a file is damaged or made to do harm, and a reader that
// calls itself for every level would run out of stack.
#pragma once

#include <cstddef>

namespace encore {

/// Levels of nested tables, parts of a key, parentheses of a condition, arrays and objects of JSON.
inline constexpr std::size_t most_levels = 100;

/// Of an experiment file; toml++ takes about 200 times as much memory.
inline constexpr std::size_t most_experiment_bytes = std::size_t{4} << 20;

/// The largest size of a manifest, a specification, or another small JSON file.
inline constexpr std::size_t most_json_bytes = std::size_t{64} << 20;

/// Options of one type of plugin, and measures of a task: each is compared with the others. Types that ship
/// have 30 at most.
inline constexpr std::size_t most_declared = 1000;

/// The largest number of problems of an experiment that are collected. After that a check may stop.
inline constexpr std::size_t most_problems = 1000;

}  // namespace encore
