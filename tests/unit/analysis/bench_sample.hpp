// SPDX-License-Identifier: BSD-3-Clause
// A made-up result of `exp bench` with round numbers: one machine, and one training step of 20 ms on it.
// bench_summary_test.cpp and report/roofline_test.cpp compute their expected values from these numbers, so a
// changed number changes expectations in both.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "store/bench_result.hpp"

namespace encore::bench_sample {

using Values = std::vector<double>;

/// The number of samples of each quantity. All samples of a quantity are equal, so the median is known and no
/// noise is reported.
inline constexpr std::size_t rounds = 10;

/// Returns the measurement of a machine of 100 GFLOP/s and 10 GB/s, and of a step of 20 ms whose matrix
/// products alone take 10 ms. `threads` becomes a part of the names and settings of both; `factor` multiplies
/// the seconds of the step and of its products.
inline store::BenchResult sample(int threads = 2, double factor = 1.0) {
  const std::string where = "openmp, " + std::to_string(threads) + " threads";
  const nlohmann::json settings = {{"backend", "openmp"}, {"threads", threads}};
  store::BenchCase machine{where, true, settings, {{"cpus", 2}}, {}, {{"device", "A"}}, {}, {}};
  machine.facts = {{"copy", {{"bytes", 1e9}}},
                   {"triad", {{"bytes", 1e9}}},
                   {"gemm 1000 float32", {{"flops", 2e9}, {"bytes", 1.2e7}, {"precision", "float32"}}}};
  machine.samples = {{"copy", Values(rounds, 0.2)},
                     {"triad", Values(rounds, 0.1)},
                     {"gemm 1000 float32", Values(rounds, 0.02)},
                     {"calibration", Values(rounds, 0.001)},
                     {"launch", Values(rounds, 1e-6)},
                     {"launch_and_wait", Values(rounds, 2e-6)}};
  store::BenchCase step{
      "float32, batch 32, " + where, false, settings, {{"cpus", 2}}, {}, {{"device", "A"}}, {}, {}};
  step.settings.update({{"precision", "float32"}, {"batch_size", 32}, {"length", 0}});
  step.facts = {{"tokens", 900.0},
                {"matmul_flops", 8e8},
                {"kernels",
                 {{"encore::gemm N x 4 x 4 nt", {{"calls", 3.0}, {"flops", 5e8}, {"bytes", 1e6}}},
                  {"encore::layer_norm", {{"calls", 2.0}, {"flops", 1e6}, {"bytes", 1e7}}},
                  {"encore::gemm_pack", {{"calls", 3.0}, {"within", "encore::gemm"}}},
                  {"theirs::kernel", {{"calls", 1.0}}}}},
                {"reductions",
                 {{{"name", "matrix products"}, {"kernels", nlohmann::json::array()}, {"free", "matmul"}},
                  {{"name", "norms"}, {"kernels", {"encore::layer_norm"}}, {"free", "free norms"}},
                  {{"name", "biases"},
                   {"kernels", nlohmann::json::array()},
                   {"fixed", "weights and biases"},
                   {"free", "free weights and biases"}},
                  {{"name", "absent"}, {"kernels", {"encore::rms_norm"}}, {"free", "free absent"}}}}};
  step.samples = {{"step", Values(rounds, 0.02 * factor)},
                  {"matmul", Values(rounds, 0.01 * factor)},
                  {"gemm", Values(rounds, 0.011)},
                  {"watched_step", Values(rounds, 0.02)},
                  {"kernel encore::gemm N x 4 x 4 nt", Values(rounds, 0.01)},
                  {"kernel encore::layer_norm", Values(rounds, 0.002)},
                  {"kernel encore::gemm_pack", Values(rounds, 0.005)},
                  {"kernel theirs::kernel", Values(rounds, 0.004)},
                  {"weights and biases", Values(rounds, 0.006)},
                  {"free weights and biases", Values(rounds, 0.0064)},
                  {"free norms", Values(rounds, 0.0018)}};
  store::BenchResult result;
  result.name = "sample";
  result.cases = {machine, step};
  return result;
}

}  // namespace encore::bench_sample
