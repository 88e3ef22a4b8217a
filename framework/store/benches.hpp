// SPDX-License-Identifier: BSD-3-Clause
// Stores measurements of `exp bench` in the database: tables bench, bench_case, bench_sample (schema.sql).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/bench_result.hpp"
#include "store/store.hpp"

namespace encore {

/// A measurement as `exp bench ls` shows it.
struct BenchRow {
  std::int64_t number = 0;
  std::string name, file;
  double created = 0.0;
  std::int64_t cases = 0;  ///< of steps
  std::int64_t rounds = 0;
  std::string host;  ///< name of the machine
};

/// Stores it under its name, with -2, -3 ... behind it if that is taken. Returns the name.
std::string add_bench(Store& store, const BenchResult& result);
/// Returns the measurements, newest first.
std::vector<BenchRow> list_benches(Store& store);
/// Throws Error that names the nearest one if there is none of that name.
BenchResult read_bench(Store& store, const std::string& name);

}  // namespace encore
