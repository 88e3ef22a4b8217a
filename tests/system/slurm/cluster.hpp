// SPDX-License-Identifier: BSD-3-Clause
// Cluster: Slurm with two nodes on this machine (daemons.sh), for as long as a test, and a sandbox whose runs
// go there. A test says first whether it may start daemons at all.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "system/control/sandbox.hpp"

namespace encore::system_test {

/// Returns why this test starts no daemons, or an empty string if it may. `full`: it belongs to the long
/// tests, which run only if ENCORE_TEST_SLURM is "full".
std::string why_no_daemons(bool full);
/// The first line of a test is one of these; it skips the test if it may start no daemons.
#define NEEDS_SLURM_FOR_A_SHORT_TEST \
  if (const std::string why = why_no_daemons(false); !why.empty()) GTEST_SKIP() << why
#define NEEDS_SLURM_FOR_A_LONG_TEST \
  if (const std::string why = why_no_daemons(true); !why.empty()) GTEST_SKIP() << why

/// Writes a sweep s of six runs, or of this number of seeds.
void write_sweep(const Sandbox& sandbox, int runs);

/// "6 completed", or "1 lost, 5 completed"
inline constexpr const char* states_query =
    "SELECT group_concat(n || ' ' || state, ', ') FROM (SELECT count(*) AS n, state FROM run GROUP BY state "
    "ORDER BY state)";
/// Returns the last digest of each run by its name.
inline constexpr const char* digests_query =
    "SELECT group_concat(text) FROM (SELECT run.name || ' ' || digest.scope || ' ' || value AS text FROM "
    "digest "
    "JOIN run ON run.number = digest.run WHERE step = (SELECT max(step) FROM digest AS other WHERE other.run "
    "= "
    "digest.run) GROUP BY text ORDER BY text)";

class Cluster {
 public:
  /// `lines` replace those of daemons.sh in slurm.conf; `site` is the table [slurm]. Its runs are trained by
  /// the scripted worker, or by the one of this build.
  explicit Cluster(const std::vector<std::string>& lines = {}, const std::string& site = "",
                   bool real_worker = false);
  ~Cluster();

  Sandbox& sandbox() { return sandbox_; }
  /// Runs exp run FILE --launcher slurm --site site.toml, and more words.
  runner::ProgramOutput run(const std::string& file, const std::vector<std::string>& more = {}) const;
  /// Starts the same in the background.
  pid_t start(const std::string& file, const std::vector<std::string>& more = {}) const;
  static std::vector<std::string> words(const std::string& file, const std::vector<std::string>& more);
  void site(const std::string& table) const;
  /// Returns what a command of Slurm prints.
  std::string slurm(const std::string& line) const;
  /// Waits until `exp status` leaves the runs in these states.
  bool comes_to(const std::string& states) const;
  /// Expects each point of every run once, and the last digests of a local run of the same file.
  void expect_like_local(const std::string& file) const;
  /// Returns the number of submissions that worked on the runs, including those whose folders are gone.
  int submissions() const;
  std::filesystem::path daemons() const { return sandbox_.folder() / "slurm"; }
  /// Starts the daemon of a node again. A folder of the sandbox that is `hidden` is empty for it and its
  /// jobs.
  void start_node(const std::string& node, const std::string& hidden = "") const;

 private:
  void stop() const;

  Sandbox sandbox_;
};

}  // namespace encore::system_test
