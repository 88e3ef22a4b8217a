// SPDX-License-Identifier: BSD-3-Clause
// Helpers for tests of plans: they plan from text without reading any file. The content hash of a data file
// is made of its name alone, so identities do not depend on folders. Tests in this folder, tests/bounds and
// tests/fuzz include it; hashes that tests compare depend on hash_of_name(), so it must not change.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "unit/config/sample_catalogue.hpp"

namespace encore::planning {

/// Replaces reading a file: its content is its name, wherever it is; a file called "missing" cannot be read.
inline std::string hash_of_name(const std::filesystem::path& path) {
  if (path.filename() == "missing")
    throw Error(path.string() + ": cannot be read: No such file or directory");
  return "hash-of-" + path.filename().string();
}

/// Returns the plan of an experiment file with this text. `name` is the path of the file in messages.
inline plan::Plan plan(const std::string& text, const std::vector<std::string>& overrides = {},
                       const std::string& name = "dir/a.toml", const config::SweepTexts& sweep = {}) {
  static const config::Catalogue catalogue = sample::catalogue();
  return plan::make_plan(config::parse_experiment_file(text, name, overrides, sweep), catalogue,
                         hash_of_name);
}

/// Returns all errors of the plan as the user sees them, or "no problem".
inline std::string problem(const std::string& text, const std::vector<std::string>& overrides = {},
                           const config::SweepTexts& sweep = {}) {
  try {
    plan(text, overrides, "dir/a.toml", sweep);
  } catch (const config::ConfigErrors& errors) {
    return errors.what();
  }
  return "no problem";
}

/// Returns the sample experiment (unit/config/sample_catalogue.hpp) followed by a sweep. The sweep begins at
/// line 32, which tests of messages rely on.
inline std::string swept(const std::string& sweep) {
  return sample::experiment + sweep;
}

inline std::string problem_of_sweep(const std::string& sweep,
                                    const std::vector<std::string>& overrides = {}) {
  return problem(swept(sweep), overrides);
}

inline std::vector<std::string> names(const plan::Plan& plan) {
  std::vector<std::string> names;
  for (const plan::RunPoint& point : plan.points) names.push_back(point.name);
  return names;
}

}  // namespace encore::planning
