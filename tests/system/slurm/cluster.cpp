// SPDX-License-Identifier: BSD-3-Clause
// Implements Cluster and the other functions of cluster.hpp, which the tests in this folder call: daemons.sh
// starts and stops the daemons of Slurm, site() writes the site file, and expect_like_local() compares the
// points and digests of a sweep with those of the same sweep without Slurm. A test is skipped if
// why_no_daemons() returns a reason. The digests must equal the local ones; daemons, speed and waits may
// change.
#include "system/slurm/cluster.hpp"

#include <unistd.h>

#include <cstdlib>

#include <encore/error.hpp>

#include "support/places.hpp"

namespace encore::system_test {

namespace {

const std::string script = std::string(ENCORE_SOURCE_DIR) + "/tests/system/slurm/daemons.sh";

std::string quoted(const std::string& text) {
  return "'" + text + "'";
}

}  // namespace

std::string why_no_daemons(bool full) {
  const char* variable = std::getenv("ENCORE_TEST_SLURM");
  const std::string wanted = variable == nullptr ? "" : variable;
  if (wanted.empty()) return "starts Slurm's daemons as root only where ENCORE_TEST_SLURM=1 is set";
  if (full && wanted != "full") return "one of the long ones: ENCORE_TEST_SLURM=full";
  if (::geteuid() != 0) return "Slurm's daemons are started as root";
  for (const char* program : {"sbatch", "slurmctld", "slurmd", "munged"})
    if (!Sandbox::has(program))
      return std::string(program) + " is missing: apt-get install slurmctld slurmd slurm-client munge";
  return "";
}

void write_sweep(const Sandbox& sandbox, int runs) {
  std::string text = tiny_experiment("s"), seeds;
  for (int seed = 1; seed <= runs; ++seed) seeds += (seed > 1 ? ", " : "") + std::to_string(seed);
  text.replace(text.find("seed = 1"), 8, "seeds = [" + seeds + "]");
  sandbox.write("sweep.toml", text);
}

Cluster::Cluster(const std::vector<std::string>& lines, const std::string& table, bool real_worker)
    : sandbox_(real_worker) {
  std::string command = quoted(script) + " start " + quoted(daemons().string());
  for (const std::string& line : lines) command += " " + quoted(line);
  const runner::ProgramOutput started = sandbox_.shell(command + " </dev/null >daemons.log 2>&1");
  if (!started.end.success()) {
    stop();
    throw encore::Error("the daemons did not start: " + sandbox_.read("daemons.log"));
  }
  sandbox_.set("SLURM_CONF", (daemons() / "slurm.conf").string());
  sandbox_.set("FAKE_STEP_MS", "1");  // the scripted worker waits 1 ms after each step
  site(table);
}

Cluster::~Cluster() {
  stop();
}

void Cluster::stop() const {
  sandbox_.shell(quoted(script) + " stop " + quoted(daemons().string()));
}

void Cluster::site(const std::string& table) const {
  sandbox_.write("site.toml", "[slurm]\nqueue_seconds = 1\nmax_submits_per_minute = 1000\n" + table);
}

std::vector<std::string> Cluster::words(const std::string& file, const std::vector<std::string>& more) {
  std::vector<std::string> all = {"run", file, "--launcher", "slurm", "--site", "site.toml"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

runner::ProgramOutput Cluster::run(const std::string& file, const std::vector<std::string>& more) const {
  return sandbox_.exp(words(file, more));
}

pid_t Cluster::start(const std::string& file, const std::vector<std::string>& more) const {
  return sandbox_.start(words(file, more));
}

std::string Cluster::slurm(const std::string& line) const {
  return sandbox_.shell(line).output;
}

bool Cluster::comes_to(const std::string& states) const {
  return eventually([&] {
    sandbox_.exp({"status"});
    return sandbox_.one(states_query) == states;
  });
}

/// The 20 below is the number of steps of each run (write_sweep(), control/fake_worker.cpp).
void Cluster::expect_like_local(const std::string& file) const {
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM (SELECT 1 FROM current_point GROUP BY run, metric, step "
                         "HAVING count(*) > 1)"),
            "0")
      << "duplicate points";
  EXPECT_EQ(
      sandbox_.one(
          "SELECT count(*) FROM run WHERE (SELECT count(DISTINCT step) FROM current_point JOIN metric ON "
          "metric.number = current_point.metric WHERE current_point.run = run.number AND metric.name = "
          "'train/loss') <> 20"),
      "0")
      << "a run lacks points";
  Sandbox local;
  local.set("FAKE_STEP_MS", "0");
  local.write(file, sandbox_.read(file));
  EXPECT_EQ(local.exp({"run", file}).end.exit_code, 0);
  const std::string digests = local.one(digests_query);
  EXPECT_FALSE(digests.empty());
  EXPECT_EQ(sandbox_.one(digests_query), digests);
}

int Cluster::submissions() const {
  return std::stoi(sandbox_.one(
      "SELECT count(DISTINCT substr(host_name, 1, instr(host_name, '_') - 1)) FROM attempt WHERE host_name "
      "LIKE 'slurm/encore-%'"));
}

void Cluster::start_node(const std::string& node, const std::string& hidden) const {
  const std::string folder = hidden.empty() ? "" : " " + quoted((sandbox_.folder() / hidden).string());
  const runner::ProgramOutput started =
      sandbox_.shell(quoted(script) + " node " + quoted(daemons().string()) + " " + node + folder +
                     " </dev/null >>daemons.log 2>&1");
  EXPECT_TRUE(started.end.success()) << sandbox_.read("daemons.log");
}

}  // namespace encore::system_test
