// SPDX-License-Identifier: BSD-3-Clause
// print_bench() and print_comparison(): a measurement of `exp bench` as tables for people: the machine, each
// step with its kernels, and changes since an earlier measurement. bench_verb.cpp calls them and prints JSON
// itself. The tables may change; no program reads them.
#pragma once

#include <iosfwd>

#include "analysis/bench_comparison.hpp"
#include "analysis/bench_summary.hpp"
#include "cli/terminal.hpp"

namespace encore::cli {

/// Prints the machine, then each measured step: its time with interval, kernels, memory, and what ranks or a
/// fixed order cost, as far as they were measured. `result` has settings and samples, `summary` the figures
/// made of them.
void print_bench(std::ostream& out, const Terminal& terminal, const store::BenchResult& result,
                 const analysis::BenchSummary& summary);
/// Prints a row for each case that can be compared, then a line for each that cannot. `before` names the
/// earlier measurement. A step is slower, a regression, if the whole interval of its ratio lies beyond
/// `threshold` (0.05: 5 %).
void print_comparison(std::ostream& out, const Terminal& terminal,
                      const analysis::BenchComparison& comparison, const std::string& before,
                      double threshold);

}  // namespace encore::cli
