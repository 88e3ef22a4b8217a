// SPDX-License-Identifier: BSD-3-Clause
// Override is a change of an experiment file by the command line: `-S key=value` sets an option, `--grid
// key=a,b` varies it, `--seeds 1-5` is the list of seeds. override.cpp parses them; app/planned_runs.cpp
// passes the arguments. Scripts of users have this form, so it must not change. Read next:
// experiment_file.hpp, which holds them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/value.hpp"

namespace encore::config {

struct Override {
  std::vector<std::string> path;
  std::string key;
  Value value;  ///< with the origin "command line"; a list for --grid and --seeds
};

/// The longest part of an argument that is kept as the place of its value and stored with every run.
inline constexpr std::size_t longest_override = 300;

/// Reads the value as TOML (3, true, [1, 2], {type = "sgd"}), or as a string if it is not valid TOML. Throws
/// Error without "=".
Override parse_override(const std::string& text);

/// Parses "model.layers=2,4": values as those of -S, separated by commas outside of brackets and quotes.
/// Throws Error.
Override parse_grid(const std::string& text);

/// Parses "1-5" or "1,4,7-9". Throws Error.
Override parse_seeds(const std::string& text);

/// The sweep of the command line, in the words of the user.
struct SweepTexts {
  std::vector<std::string> grid = {};     ///< --grid
  std::optional<std::string> seeds = {};  ///< --seeds
};

}  // namespace encore::config
