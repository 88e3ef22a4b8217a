// SPDX-License-Identifier: BSD-3-Clause
// BenchComparison says what is slower or faster between two measurements of `exp bench`. Cases are paired by
// their settings; only the time of a step decides. A regression must show in the seconds of a step and in
// these seconds divided by the calibration of the same round, so that a machine that is slower today raises
// no alarm. cli/bench_verb.cpp calls compare_benches(), prints the result (cli/bench_text.cpp) and returns
// exit code 1 for a regression; CI depends on it, so a change of the rule is a change for users.
#pragma once

#include <string>
#include <vector>

#include "analysis/medians.hpp"
#include "store/bench_result.hpp"

namespace encore::analysis {

enum class Change {
  slower,       ///< the whole interval lies beyond the threshold: a regression
  faster,       ///< the whole interval lies beyond the threshold on the other side
  unchanged,    ///< the whole interval lies within the threshold
  unclear,      ///< the interval crosses the threshold: more rounds are needed
  incomparable  ///< another machine or other work
};
/// Returns "slower", "faster", "unchanged", "unclear" or "not comparable", which `exp bench` prints and
/// writes as JSON.
const char* name_of(Change change);

/// The verdict on one quantity of one case.
struct BenchChange {
  std::string name;      ///< name of the case
  std::string quantity;  ///< "step", "kernel encore::layer_norm" ...
  Change change = Change::unclear;
  Ratio seconds;                          ///< new over old
  Ratio calibrated;                       ///< new over old, in seconds / calibration of the round
  double share = 1.0;                     ///< share of the new step, in [0, 1]
  std::vector<std::string> reasons = {};  ///< set if `incomparable`: `device is "A" and "B"`
};

struct BenchComparison {
  std::vector<BenchChange> steps;    ///< one for each case that both measurements have; only these decide
  std::vector<BenchChange> kernels;  ///< kernels of these cases, which explain the change of a step
  std::vector<std::string> missing;  ///< cases of the old one that the new one lacks
  std::vector<std::string> changed;  ///< "compiler: GNU 12.2.0, now GNU 13.1.0": what may explain it

  bool regression() const;
};

/// Returns the verdict on one quantity. `before` and `now` hold its seconds, round by round; the calibrations
/// are those of the same rounds. `threshold` is a fraction, such as 0.05.
BenchChange judge(std::span<const double> before, std::span<const double> before_calibration,
                  std::span<const double> now, std::span<const double> now_calibration, double threshold);

/// Compares all cases that both measurements have. Throws Error if they have no case in common, or if a
/// measurement lacks samples of some rounds.
BenchComparison compare_benches(const store::BenchResult& before, const store::BenchResult& now,
                                double threshold);

}  // namespace encore::analysis
