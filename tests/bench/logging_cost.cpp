// SPDX-License-Identifier: BSD-3-Clause
// The program logging_cost, called by hand: measures what recording costs. (1) The CPU time of a process that
// logs ten metrics in each of 500 steps a second (record/spool.hpp). (2) How fast a long spool is merged into
// a database (store/store.hpp). It measures CPU time, so that the numbers hold on a busy machine, and wall
// time as well. mlflow_store.py measures the cost of a point in MLflow's store; docs/internals/testing.md
// names both.
//
//   build/openmp/bin/tests/logging_cost [POINTS]      (default 3000000; files go to the temporary folder)
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "record/spool.hpp"
#include "store/store.hpp"
#include "unit/record/temporary_folder.hpp"

namespace {

using namespace encore;

constexpr int metrics = 10;
constexpr double steps_per_second = 500.0;

struct Times {
  double cpu = 0.0;  ///< user and system, of this process
  double wall = 0.0;

  static Times now() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return {seconds(usage.ru_utime) + seconds(usage.ru_stime),
            std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
  }
  Times operator-(const Times& other) const { return {cpu - other.cpu, wall - other.wall}; }
};

void print(const char* what, std::vector<double> samples, const char* unit) {
  std::ranges::sort(samples);
  std::printf("%-64s %10.4g %s (%.4g to %.4g, n = %zu)\n", what, samples[samples.size() / 2], unit,
              samples.front(), samples.back(), samples.size());
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (int i = 0; i < metrics; ++i) list.push_back("train/metric_" + std::to_string(i));
  return list;
}

/// Writes ten points a step, and five times a second a progress event that flushes them to the operating
/// system, as the worker does.
Times write_spool(const std::filesystem::path& path, std::int64_t steps) {
  const std::vector<std::string> metric_names = names();
  record::SpoolWriter spool(path, 1);
  const Times begin = Times::now();
  for (std::int64_t step = 1; step <= steps; ++step) {
    const double value = std::sin(static_cast<double>(step));
    for (const std::string& name : metric_names) spool.point(name, step, value);
    if (step % 100 == 0)
      spool.event(record::Progressed{.step = step,
                                     .total_steps = steps,
                                     .epoch = 1,
                                     .loss = value,
                                     .learning_rate = 1e-3,
                                     .tokens_per_second = 1e5,
                                     .eta_seconds = 10.0});
  }
  spool.flush();
  return Times::now() - begin;
}

void measure_step(const std::filesystem::path& folder) {
  constexpr std::int64_t steps = 50000;
  std::vector<double> point, share;
  for (int sample = 0; sample < 9; ++sample) {
    const Times spent = write_spool(folder / ("step-" + std::to_string(sample)), steps);
    point.push_back(1e9 * spent.cpu / (steps * metrics));
    share.push_back(100.0 * spent.cpu / steps * steps_per_second);
  }
  print("a point in the worker, events and writes included", point, "ns CPU");
  print("ten points a step at 500 steps/s: share of the step", share, "% of its time");
}

void measure_merging(const std::filesystem::path& folder, std::int64_t points) {
  std::vector<double> per_cpu, per_wall;
  for (int sample = 0; sample < 3; ++sample) {
    store::Store store(folder / ("merge-" + std::to_string(sample) + ".db"), store::OpenMode::create);
    record::Specification specification;
    specification.name = "bench";
    specification.question = std::string(64, 'a');
    specification.group = std::string(64, 'b');
    specification.backend = "openmp";
    const store::Lease lease = store.begin_attempt(store.add_run(specification).run.number).value();
    write_spool(store.run_folder(lease.run_id) / record::spool_name(lease.ordinal), points / metrics);
    const Times begin = Times::now();
    store.merge(lease);
    const Times spent = Times::now() - begin;
    const auto merged = static_cast<double>(store.database().integer("SELECT count(*) FROM point").value());
    per_cpu.push_back(merged / spent.cpu);
    per_wall.push_back(merged / spent.wall);
  }
  print("merging into the database", per_cpu, "points/s of CPU time");
  print("merging into the database", per_wall, "points/s of wall time");
}

}  // namespace

int main(int argc, char** argv) {
  const encore::testing::TemporaryFolder folder;
  measure_step(folder.path());
  measure_merging(folder.path(), argc > 1 ? std::atoll(argv[1]) : 3000000);
  return 0;
}
