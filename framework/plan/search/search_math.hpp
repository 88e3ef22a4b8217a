// SPDX-License-Identifier: BSD-3-Clause
// exponential(), logarithm(), normal_below(): elementary functions for decisions of a search (parzen.cpp,
// tpe.cpp, axis.cpp). They use only +, -, *, / and sqrt, so that a decision has the same bits on every
// processor: the C library chooses among implementations by CPU, and encore/math.hpp needs Kokkos, which the
// control program does not link. Stored decisions depend on every bit, so no expression may be reordered.
#pragma once

namespace encore::plan::search {

/// Returns e^x, to about 1e-15 relative; 0 below -745.
double exponential(double x);
/// Returns the natural logarithm of a positive, normal number, to about 1e-15 relative.
double logarithm(double x);
/// Returns the distribution function of the standard normal, to about 1e-14 absolute. G. West, "Better
/// approximations to cumulative normal functions" (2005), after J. F. Hart (1968).
double normal_below(double x);
/// Returns the x in [low, high] with normal_below(x) nearest to `share`: bisection to 2^-50 of the interval.
double normal_quantile(double share, double low, double high);

}  // namespace encore::plan::search
