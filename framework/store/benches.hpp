// SPDX-License-Identifier: BSD-3-Clause
// Adds, lists and reads measurements of `exp bench` in the tables bench, bench_case and bench_sample
// (schema.sql). cli/bench_verb.cpp calls these functions. A change of the tables is a new version of the
// schema (upgrade.cpp). Read next: bench_result.hpp, the value that is stored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/bench_result.hpp"
#include "store/store.hpp"

namespace encore::store {

/// A measurement as `exp bench ls` shows it.
struct BenchRow {
  std::int64_t number = 0;  ///< row number
  std::string name, file;   ///< file: the experiment file; empty: only the machine was measured
  double created = 0.0;     ///< in seconds since 1970
  std::int64_t cases = 0;   ///< number of measured training steps
  std::int64_t rounds = 0;
  std::string host;  ///< name of the machine
};

/// Stores the result under its name, or with -2, -3 ... appended if that name is taken. Returns the name.
std::string add_bench(Store& store, const BenchResult& result);
/// Returns the measurements, newest first.
std::vector<BenchRow> list_benches(Store& store);
/// Throws an Error that suggests the nearest name if no measurement has this one.
BenchResult read_bench(Store& store, const std::string& name);

}  // namespace encore::store
