// SPDX-License-Identifier: BSD-3-Clause
// Prints a measurement of `exp bench` as tables: the machine, each step with its kernels, and changes since
// an earlier measurement. bench_verb.cpp calls it.
#pragma once

#include <iosfwd>

#include "analysis/bench_comparison.hpp"
#include "analysis/bench_summary.hpp"
#include "cli/terminal.hpp"

namespace encore::cli {

void print_bench(std::ostream& out, const Terminal& terminal, const store::BenchResult& result,
                 const analysis::BenchSummary& summary);
void print_comparison(std::ostream& out, const Terminal& terminal,
                      const analysis::BenchComparison& comparison, const std::string& before,
                      double threshold);

}  // namespace encore::cli
