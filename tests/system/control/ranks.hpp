// SPDX-License-Identifier: BSD-3-Clause
// Ranks: the fixture of ranks_test.cpp and rank_faults_test.cpp, which train one run with several ranks
// (processes) over MPI: an experiment of four gradient shards, and all its digests and metrics as strings.
// Skips the test without MPI. Both tests compare all digests with those of one process, so the experiment
// must keep four shards.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "system/control/real_worker.hpp"

namespace encore::system_test {

class Ranks : public RealWorkerTest {
 protected:
  void SetUp() override {
    RealWorkerTest::SetUp();
    if (IsSkipped()) return;
    const runner::ProgramOutput version =
        runner::run_program(ENCORE_BUILD_DIR "/bin/encore-worker", {"version"});
    if (nlohmann::json::parse(version.output).at("mpi") == "") GTEST_SKIP() << "this worker has no MPI";
    if (!Sandbox::has("mpirun")) GTEST_SKIP() << "mpirun is missing (Debian: openmpi-bin)";
    sandbox_.write("tiny.toml",
                   tiny_experiment() + "gradient_shards = 4\ncheckpoint_every = 3\ndigest_steps = 5\n");
  }

  void train(std::vector<std::string> options) {
    options.insert(options.begin(), {"run", "tiny.toml"});
    output_of(options);
  }
  /// Returns every digest and every point except those of clocks, each from the last attempt that has it.
  std::vector<std::string> bits() const {
    std::vector<std::string> all = sandbox_.query(
        "SELECT step || ' ' || scope || ' ' || value FROM digest GROUP BY step, scope HAVING attempt = "
        "max(attempt) ORDER BY step, scope");
    for (std::string& row : sandbox_.query(
             "SELECT name || ' ' || step || ' ' || printf('%.17g', value) FROM point JOIN metric ON metric = "
             "metric.number WHERE unit NOT LIKE '%s' GROUP BY metric, step HAVING attempt = max(attempt) "
             "ORDER BY name, step"))
      all.push_back(std::move(row));
    return all;
  }
  /// Removes the trained runs.
  void forget() const {
    for (const char* name : {"encore.db", "encore.db-wal", "encore.db-shm", "encore.db.runs"})
      std::filesystem::remove_all(sandbox_.folder() / name);
  }
  /// Starts or resumes the run, returns its bits, and removes it.
  std::vector<std::string> bits_of(const std::vector<std::string>& options) {
    train(options);
    std::vector<std::string> all = bits();
    forget();
    return all;
  }
  /// Returns the first difference, or an empty string if there is none.
  static std::string difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
      if (i >= a.size() || i >= b.size() || a[i] != b[i])
        return (i < a.size() ? a[i] : "nothing") + " | " + (i < b.size() ? b[i] : "nothing");
    return "";
  }
  bool wait_for_checkpoints(int count) const {
    return sandbox_.wait_until([&] {
      return std::filesystem::exists(sandbox_.folder() / "encore.db") &&
             sandbox_.one("SELECT count(*) FROM sqlite_schema WHERE name = 'checkpoint'") == "1" &&
             std::stoi(sandbox_.one("SELECT ifnull(max(step), 0) FROM checkpoint")) >= 3 * count;
    });
  }
};

}  // namespace encore::system_test
