// SPDX-License-Identifier: BSD-3-Clause
// draw_roofline(): the roofline of a measured step (Williams, Waterman and Patterson 2009): operations per
// byte against operations per second, on logarithmic axes; the machine's limits are lines, kernels are
// numbered points below them. Place in the flow: bench results (BenchSummary) -> here -> a picture of `exp
// bench`.
#pragma once

#include "analysis/bench_summary.hpp"
#include "document/drawing.hpp"

namespace encore::report {

/// Returns the drawing of the kernels with the largest shares whose work is known; the key counts the others.
/// It has margins, for a file of its own. Throws Error if the work of all kernels, or a limit of the machine,
/// is unknown.
document::Drawing draw_roofline(const analysis::BenchSummary& summary, const analysis::StepSummary& step);

}  // namespace encore::report
