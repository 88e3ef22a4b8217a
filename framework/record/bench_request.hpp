// SPDX-License-Identifier: BSD-3-Clause
// BenchRequest: what a worker measures; the file bench.json in the folder of a measurement. Place in the
// flow: runner/bench_run.hpp writes it -> `encore-worker bench` reads it and answers in a spool beside it,
// with the events BenchStarted, BenchFacts, BenchRound and Ended (events.hpp), one BenchRound for each round.
// The file is read once, by a worker of the same build, so members may change, with the format number
// (bench_request.cpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "record/specification.hpp"

namespace encore::record {

/// One configuration of a training step.
struct BenchCaseRequest {
  std::string name;             ///< unique within the request
  std::int64_t length = 0;      ///< tokens of every sequence; 0: as in the training set
  Specification specification;  ///< batch size and precision are the experiment's own options
};

struct BenchRequest {
  std::int64_t rounds = 10;                     ///< that are measured, after the warm-up
  std::int64_t batches = 4;                     ///< of each case; the same in every round
  bool order_cost = false;                      ///< also time steps without a fixed order of sums
  std::vector<std::string> machine_precisions;  ///< of the matrix products of the machine
  std::vector<std::int64_t> machine_sizes;      ///< of their square matrices
  std::vector<BenchCaseRequest> cases;          ///< none: the machine alone

  nlohmann::json to_json() const;
  static BenchRequest from_json(const nlohmann::json& json);
  void save(const std::filesystem::path& folder) const;
  /// Throws Error that names the file and what is wrong with it.
  static BenchRequest load(const std::filesystem::path& folder);
};

}  // namespace encore::record
