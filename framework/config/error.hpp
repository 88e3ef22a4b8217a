// SPDX-License-Identifier: BSD-3-Clause
// The problems of a configuration and their places: Place, Problem, the collecting Problems, and the two
// exceptions. Every file of config/ and plan/ adds Problems, so that one call shows everything to correct.
// The worker throws ConfigError with a dotted key, and origin.hpp turns the key into file:line:column again.
// Messages have the form FILE:LINE:COLUMN, which editors read, so it must not change.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <encore/error.hpp>

namespace encore::config {

/// The place where a user wrote something. `file` is the path as given, or `-S key=value` with line 0.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;

  bool known() const { return !file.empty(); }
  /// Returns "sweep.toml:14:3", or only the file if there is no line.
  std::string text() const;
};

/// One thing to correct. `key` is the dotted name of the option ("model.layer.attention.heads") or empty.
struct Problem {
  Place place;
  std::string key;
  std::string message;

  /// Returns "sweep.toml:14:3: unknown option ...".
  std::string text() const;
};

/// Carries all problems of an experiment, and the first 50 as lines in what().
class ConfigErrors : public Error {
 public:
  explicit ConfigErrors(std::vector<Problem> problems);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

/// Collects problems in the order in which they are found. It ignores a problem that it has already, and all
/// beyond most_problems (base/limits.hpp).
class Problems {
 public:
  void add(Place place, std::string key, std::string message);
  void add(const std::vector<Problem>& others);
  bool empty() const { return problems_.empty(); }
  const std::vector<Problem>& all() const { return problems_; }
  /// Throws ConfigErrors unless nothing was found.
  void require_none() const;

 private:
  std::vector<Problem> problems_;
};

/// An option with an invalid value, thrown where only its dotted key is known, mostly in the worker.
class ConfigError : public Error {
 public:
  ConfigError(std::string key, const std::string& message) : Error(message), key_(std::move(key)) {}
  const std::string& key() const { return key_; }

 private:
  std::string key_;
};

}  // namespace encore::config
