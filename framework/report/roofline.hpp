// The roofline of a measured step (Williams, Waterman and Patterson 2009): operations per byte against
// operations per second, on logarithmic axes; the machine's limits are lines, kernels are points below them.
#pragma once

#include "document/chart.hpp"
#include "report/bench_summary.hpp"

namespace encore {

/// Of the kernels with the largest shares, as many as a legend can carry. Throws Error where no kernel's work
/// is known or the machine's limits are not.
LineChart roofline_chart(const BenchSummary& summary, const StepSummary& step);

}  // namespace encore
