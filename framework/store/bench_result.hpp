// SPDX-License-Identifier: BSD-3-Clause
// BenchResult is one measurement of speed (`exp bench`): raw samples, and the facts that are needed to
// interpret them. Workers, the database and files of `exp bench --json` use this one struct.
// runner/bench_run.hpp fills it, benches.hpp stores it, analysis/bench_comparison.hpp compares two of them.
// to_json() is the stored form: bench_result.cpp says what a change needs.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace encore::store {

/// One thing that was measured, round after round: a machine, or one configuration of a training step.
struct BenchCase {
  std::string name;  ///< "openmp, 2 threads", "float32, batch 32, openmp, 2 threads"; unique in the result
  bool machine = false;  ///< true: the case measured the machine itself, not a training step
  /// {backend, threads}, and for a training step {precision, batch_size, length}. Cases of two results with
  /// equal settings are compared.
  nlohmann::json settings = nlohmann::json::object();
  nlohmann::json host, build;  ///< as the worker reported them
  nlohmann::json environment;  ///< numeric environment
  nlohmann::json facts;        ///< known without a measurement: operations, bytes, tokens, memory
  std::map<std::string, std::vector<double>>
      samples;  ///< seconds by quantity (and "joules"), one for each round
};

struct BenchResult {
  std::string name;
  std::string file;      ///< the experiment file; empty: only the machine was measured
  double created = 0.0;  ///< in seconds since 1970
  nlohmann::json settings = nlohmann::json::object();  ///< rounds, batches, pinning
  nlohmann::json noise = nlohmann::json::object();     ///< disturbance: steal, load, other processes
  std::vector<BenchCase> cases;

  nlohmann::json to_json() const;
  /// Throws an Error that begins with `where` unless settings, noise and facts are JSON objects and each
  /// sample is a finite number, at least 0. Other members of a case may be missing or of any type.
  void require_readable(const std::string& where) const;
  /// Throws an Error that begins with `where` if the JSON is not a result.
  static BenchResult from_json(const nlohmann::json& json, const std::string& where);
  static BenchResult load(const std::filesystem::path& file);
  /// Returns the case that measured the machine on which `step` ran, or null if there is none.
  const BenchCase* machine_of(const BenchCase& step) const;
};

}  // namespace encore::store
