// SPDX-License-Identifier: BSD-3-Clause
// The exact one-sided interval ends of a share (Clopper and Pearson 1934). thresholds.cpp computes with them
// what `decide` can promise. Pure functions, for any thread. Thresholds of stored runs follow from them, so a
// change of their values needs a new version of the step.
#pragma once

namespace encore::decide {

/// Returns the regularised incomplete beta function I_x(a, b). `a` and `b` are above 0, `x` is in [0, 1].
double incomplete_beta(double a, double b, double x);

/// Returns the largest share with which `hits` or fewer of `trials` still have a probability of 1 - `level`,
/// or more: with probability `level` the true share is at most this. Returns 1 if there are no trials. Counts
/// may have fractions, as those that are scaled to another sample size have.
double upper_end(double hits, double trials, double level);
/// Returns the lower end in the same way, 0 if there are no trials.
double lower_end(double hits, double trials, double level);

}  // namespace encore::decide
