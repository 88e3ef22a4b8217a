// SPDX-License-Identifier: BSD-3-Clause
// BenchResult is everything one measurement has found, as raw samples with what is needed to read them. It is
// the same value from workers, from the database and from a file that `exp bench --json` wrote.
// runner/bench_run fills it, store/benches keeps it, report/ draws conclusions from it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace encore {

/// One thing that was measured, round after round: a machine, or one configuration of a training step.
struct BenchCase {
  std::string name;  ///< "openmp, 2 threads", "float32, batch 32, openmp, 2 threads"; unique in the result
  bool machine = false;
  /// {backend, threads} and for a step {precision, batch_size, length}; they match cases of two results.
  nlohmann::json settings = nlohmann::json::object();
  nlohmann::json host, build;  ///< as the worker reported them
  nlohmann::json environment;  ///< numeric environment
  nlohmann::json facts;        ///< known without a clock: operations, bytes, tokens, memory
  std::map<std::string, std::vector<double>> samples;  ///< seconds by quantity, one for each round
};

struct BenchResult {
  std::string name;
  std::string file;  ///< the experiment; empty: only the machine
  double created = 0.0;
  nlohmann::json settings = nlohmann::json::object();  ///< rounds, batches, pinning
  nlohmann::json noise = nlohmann::json::object();     ///< steal, load, other processes
  std::vector<BenchCase> cases;

  nlohmann::json to_json() const;
  /// Throws Error that begins with `where` unless settings, noise and facts are JSON objects and each sample
  /// is a number of seconds of at least 0. Other members of a case may be missing or of any type.
  void require_readable(const std::string& where) const;
  /// Throws Error that begins with `where` if the JSON is not a result.
  static BenchResult from_json(const nlohmann::json& json, const std::string& where);
  static BenchResult load(const std::filesystem::path& file);
  /// Returns the machine that a step was measured on, or null if there is none.
  const BenchCase* machine_of(const BenchCase& step) const;
};

}  // namespace encore
