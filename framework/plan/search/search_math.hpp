// Elementary functions of the search: made of +, -, *, / and sqrt alone, so that a decision has the same bits
// on every processor. The C library chooses among implementations of exp and log by CPU, and the functions of
// encore/math.hpp need Kokkos, which the control program does not link.
#pragma once

namespace encore::search {

/// About 1e-15 relative; 0 below -745.
double exponential(double x);
/// Of a positive, normal number; about 1e-15 relative.
double logarithm(double x);
/// Distribution function of the standard normal, about 1e-14 absolute.
/// G. West, "Better approximations to cumulative normal functions" (2005), after J. F. Hart (1968).
double normal_below(double x);
/// The x in [low, high] with normal_below(x) nearest to `share`, by halving; 2^-50 of the interval.
double normal_quantile(double share, double low, double high);

}  // namespace encore::search
