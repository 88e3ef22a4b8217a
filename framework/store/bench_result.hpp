// BenchResult: everything one measurement has found, as raw samples with what is needed to read them; the
// same value whether it comes from workers, from the database or from a file that `exp bench --json` wrote.
// Place in the flow: runner/bench_run fills it, store/benches keeps it, report/ draws conclusions from it.
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
  /// {backend, threads} and of a step {precision, batch_size, length}: by these, cases of two results meet.
  nlohmann::json settings = nlohmann::json::object();
  nlohmann::json host, build;  ///< as the worker told them
  nlohmann::json environment;  ///< numeric environment
  nlohmann::json facts;        ///< known without a clock: operations, bytes, tokens, memory
  std::map<std::string, std::vector<double>> samples;  ///< seconds by quantity, one for each round
};

struct BenchResult {
  std::string name;
  std::string file;  ///< the experiment; empty: the machine alone
  double created = 0.0;
  nlohmann::json settings = nlohmann::json::object();  ///< rounds, batches, pinning
  nlohmann::json noise = nlohmann::json::object();     ///< steal, load, other processes
  std::vector<BenchCase> cases;

  nlohmann::json to_json() const;
  /// Throws Error that begins with `where` where settings, noise or facts are no JSON objects, or a sample is
  /// no number of seconds from 0 on. What else is said of a case may be missing or of any type.
  void require_readable(const std::string& where) const;
  /// Throws Error that begins with `where` for what is no result.
  static BenchResult from_json(const nlohmann::json& json, const std::string& where);
  static BenchResult load(const std::filesystem::path& file);
  /// The machine that a step was measured on; null where there is none.
  const BenchCase* machine_of(const BenchCase& step) const;
};

}  // namespace encore
