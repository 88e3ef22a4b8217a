// SPDX-License-Identifier: BSD-3-Clause
// BenchSummary is a measurement of `exp bench` as medians with intervals, rates, shares, and distances from
// the limits of the machine. cli/bench_verb.cpp makes it from the samples; the table (cli/bench_text.cpp),
// the JSON (bench_summary_json.cpp) and the roofline (report/roofline.cpp) all read it. Only samples are
// stored, so a summary may get more figures; old samples must still give theirs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/medians.hpp"
#include "store/bench_result.hpp"

namespace encore::analysis {

/// What the machine can do with one backend and number of threads.
struct MachineSummary {
  const store::BenchCase* measured = nullptr;
  struct Product {
    std::string precision;
    double size = 0.0;  ///< of the square matrices
    Measured flops;     ///< per second
  };
  /// The highest speed of the cores, with operands in registers; it does not depend on the library. Empty if
  /// it was not measured.
  struct Peak {
    std::string precision, instructions;
    Measured flops;  ///< per second
  };
  /// Reads from one level of memory by all threads.
  struct Read {
    std::string level;
    double holds = 0.0;  ///< bytes that the level holds; 0: any number
    Measured bytes;      ///< per second
  };
  std::vector<Product> products;
  std::vector<Peak> cores;
  std::vector<Read> reads;              ///< by rising size
  std::map<std::string, double> peaks;  ///< operations per second, by precision: the best of the products
  Measured copy, triad;                 ///< bytes per second
  Measured launch, launch_and_wait;     ///< seconds
  /// The interquartile range of the calibration over its median: how unsteady the machine was.
  double calibration_spread = 0.0;
  double bandwidth() const;
  const Peak* core_peak(const std::string& precision) const;  ///< null if it was not measured
  /// Returns the least seconds in which the machine could do this work, with reads from the smallest level of
  /// memory that holds the bytes of one call. Returns nothing if the peaks were not measured.
  std::optional<double> least_seconds(const std::string& precision, double flops, double bytes,
                                      double calls) const;
};

/// One kernel of a step.
struct KernelSummary {
  std::string label;
  bool within_product = false;  ///< part of a product that is listed too, so it is in no sum
  bool product = false;
  double calls = 0.0;                  ///< in a step
  Measured seconds;                    ///< in a step
  double share = 0.0;                  ///< of the watched step
  std::optional<double> flops, bytes;  ///< in a step; nothing if unknown
  /// The seconds that the kernel would need at the speed of the library's best product and of memory, divided
  /// by the seconds that it took.
  std::optional<double> limit;
  std::optional<double> machine_limit;  ///< the same ratio for the peaks of the cores and of the caches
};

/// What the fixed order of one reduction costs (bench/order_cost.hpp): its time against that of a version in
/// any order.
struct OrderPrice {
  std::string name;
  Measured fixed, free;  ///< seconds in a step
  Measured price;        ///< (fixed - free) / seconds of the step
};

/// One case of a training step.
struct StepSummary {
  const store::BenchCase* measured = nullptr;
  Measured step, matmul, gemm, watched;  ///< seconds
  Measured tokens_per_second;
  Measured step_over_matmul;           ///< round by round
  double matmul_flops = 0.0;           ///< in a step
  std::optional<double> of_peak;       ///< matmul_flops over the seconds of the step and the cores' peak
  std::vector<KernelSummary> kernels;  ///< by falling seconds
  double outside_kernels = 0.0;        ///< share of the watched step
  std::optional<Measured> joules_per_token;  ///< of the packages of the machine; nothing: not measured
  std::vector<OrderPrice> prices;            ///< empty if the cost of the order was not requested
  std::optional<Measured> price_of_order;    ///< sum over `prices`
};

struct BenchSummary {
  std::vector<MachineSummary> machines;
  std::vector<StepSummary> steps;
  /// Returns the machine that was measured with the backend and threads of the step; null if there is none.
  const MachineSummary* machine_of(const StepSummary& step) const;
  nlohmann::json to_json() const;  ///< for `exp bench --json`; names of fields stay
};

/// Summarizes a measurement. The summary refers to `result`, which must outlive it.
BenchSummary summarize(const store::BenchResult& result);

/// Returns warnings about the quality of the measurement: the spread of the calibration, time that the host
/// took away (steal), other processes. Returns no warning if the machine was quiet.
std::vector<std::string> noise_notes(const store::BenchResult& result, const BenchSummary& summary);

/// Whether two cases that differ only in backend and threads computed the same gradients in their first step.
struct BitsVerdict {
  std::string name, against;  ///< names of the two cases
  /// "equal", "different", or "not comparable: " and what else differs. Equal bits are promised only for one
  /// processor, compiler and library of matrix products.
  std::string verdict;
  bool broken = false;  ///< the verdict is "different"
};
/// Compares each case with the first one of its precision, batch size and length. Cases with several ranks
/// and measurements of earlier versions have no digest and are left out.
std::vector<BitsVerdict> bits_verdicts(const BenchSummary& summary);

/// How much less time a step takes with more threads, compared with the gain of its matrix products alone.
struct ThreadGain {
  std::string name;             ///< of the case with more threads
  double from = 1.0, to = 1.0;  ///< threads
  double step = 1.0, matmul = 1.0;
};
/// Compares cases that differ only in their threads, each with the one with the fewest.
std::vector<ThreadGain> thread_gains(const BenchSummary& summary);

}  // namespace encore::analysis
