// The roofline of a measured step (Williams, Waterman and Patterson 2009): operations per byte against
// operations per second, on logarithmic axes; the machine's limits are lines, kernels are numbered points
// below them, and a key under the plot says what each number is.
#pragma once

#include "analysis/bench_summary.hpp"
#include "document/drawing.hpp"

namespace encore {

/// Of the kernels with the largest shares whose work is known; the key counts those beyond. With margins, for
/// a file of its own. Throws Error where no kernel's work is known or the machine's limits are not.
Drawing draw_roofline(const BenchSummary& summary, const StepSummary& step);

}  // namespace encore
