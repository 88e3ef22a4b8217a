// What `exp bench` is asked to measure, from the command line to the workers: the lists of threads, backends,
// precisions, batch sizes and lengths, crossed.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "runner/bench_run.hpp"

namespace encore {

/// One worker for each number of threads and of ranks on each backend; the cases of all are the same, but
/// that several ranks have larger batches too. Throws UsageError or ConfigErrors for what cannot be measured:
/// nothing was started.
std::vector<BenchWorker> bench_workers(const CommandLine& line);
/// "5%" or "0.05" as a fraction. Throws UsageError.
double threshold_of(const std::string& text);
/// "1,2,4" of numbers from `least` on. Throws UsageError that names the option.
std::vector<std::int64_t> number_list(const CommandLine& line, const std::string& option, std::int64_t least);

}  // namespace encore
