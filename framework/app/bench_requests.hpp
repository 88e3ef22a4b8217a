// SPDX-License-Identifier: BSD-3-Clause
// The requests of bench, bench ls and bench show, and bench_workers(), which makes the cases that `exp bench`
// measures. exp reads the requests from the command line; the component exp-bench does the work
// (cli/components.hpp; cli/bench_verb.cpp calls bench_workers() and starts the workers). Later comparisons
// (--against) match cases by their stored settings, so these must not change.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run_ranks.hpp"
#include "runner/bench_run.hpp"

namespace encore::app {

/// How a measurement is printed and compared.
struct BenchOutputRequest {
  std::string against;           ///< an earlier one: its name, or a .json file; empty: none
  std::string threshold = "5%";  ///< share from which a slower step is a regression: "5%" or "0.05"
  std::string svg;               ///< file for the roofline; empty: none
  bool json = false;
};

/// The request of bench: all combinations of the values in its lists are measured.
struct MeasureRequest {
  std::vector<std::string> set, plugin_path;  ///< key=value; folders
  std::string backend, threads, ranks;        ///< lists such as "1,2"; empty: one default value
  std::optional<std::string> mpirun;          ///< the command that starts ranks
  std::string precision, batch_size, length;  ///< lists; empty: the value of the file
  std::int64_t rounds = 10, batches = 4;      ///< number of samples, and of steps in each
  bool order_cost = false;                    ///< also measure sums without their fixed order
  BenchOutputRequest output;
  std::string name;  ///< of the stored measurement; empty: chosen
  bool quiet = false;
  std::string file;  ///< experiment file; empty: only the machine is measured
};

struct BenchShowRequest {
  BenchOutputRequest output;
  std::string name;
};

struct BenchLsRequest {
  bool json = false, csv = false;
};

Form<MeasureRequest> bench_form();
Form<BenchShowRequest> bench_show_form();
Form<BenchLsRequest> bench_ls_form();

/// Returns "5%" or "0.05" as a fraction. Throws UsageError.
double threshold_of(const std::string& text);

/// Returns one worker for each backend and each number of threads and ranks, with all combinations of the
/// other lists as its cases. All have the same cases; several ranks also have larger batches. Throws
/// UsageError or ConfigErrors if a case cannot be measured; nothing has started then.
std::vector<runner::BenchWorker> bench_workers(const MeasureRequest& request, const App& app);

}  // namespace encore::app
