// SPDX-License-Identifier: BSD-3-Clause
// draw_roofline(): the roofline of a measured step (Williams, Waterman and Patterson 2009): operations per
// byte against operations per second, on logarithmic axes; the machine's limits are lines, kernels are
// numbered points below them. `exp bench` (cli/bench_verb.cpp) calls it with the summary of a measurement
// (analysis/bench_summary.hpp) and writes the picture. It is a library of its own, so that `exp bench` links
// no other part of reports.
#pragma once

#include "analysis/bench_summary.hpp"
#include "document/drawing.hpp"

namespace encore::report {

/// Returns the drawing of the kernels with the largest shares whose work is known; the key counts the others.
/// It has margins, for a file of its own. Throws Error if the work of all kernels, or a limit of the machine,
/// is unknown.
document::Drawing draw_roofline(const analysis::BenchSummary& summary, const analysis::StepSummary& step);

}  // namespace encore::report
