// SPDX-License-Identifier: BSD-3-Clause
// RankScaling says how a training step scales over ranks (processes that train together), from the cases of
// one measurement: strong (the same batch, divided) and weak (as many times the batch). cli/bench_verb.cpp
// writes it as JSON and cli/bench_text.cpp as a table, for `exp bench --ranks`. Scripts read the names in
// to_json(), so these stay.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/bench_summary.hpp"

namespace encore::analysis {

/// One case with several ranks, compared with a case of one process.
struct RankScaling {
  const StepSummary* step = nullptr;
  const StepSummary* base =
      nullptr;  ///< the case of one process: the same batch (strong), or one rank's part of it (weak)
  bool weak = false;
  std::int64_t ranks = 2, threads = 1;  ///< threads of each rank
  double speedup = 1.0;                 ///< tokens a second over those of the base
  double efficiency = 1.0;              ///< the speedup divided by the ratio of all threads
  Measured exchange = {};  ///< share of the step in which rank 0 waited for others or moved bytes
};

/// Compares each case of several ranks with a case of one process: one with as many threads if there is one,
/// else the one with the most. Empty if the measurement lacks cases with ranks or without.
std::vector<RankScaling> rank_scaling(const BenchSummary& summary);
nlohmann::json to_json(const RankScaling& scaling);

}  // namespace encore::analysis
