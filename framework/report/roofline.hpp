// The roofline of a measured step (Williams, Waterman and Patterson 2009): operations per byte against
// operations per second, on logarithmic axes; the machine's limits are lines, kernels are numbered points
// below them, and a key under the plot names each number.
#pragma once

#include "analysis/bench_summary.hpp"
#include "document/drawing.hpp"

namespace encore {

/// Shows the kernels with the largest shares whose work is known; the key counts the others. With margins,
/// for a file of its own. Throws Error if the work of all kernels, or a limit of the machine, is unknown.
Drawing draw_roofline(const BenchSummary& summary, const StepSummary& step);

}  // namespace encore
