// SPDX-License-Identifier: BSD-3-Clause
// The requests of bench, bench ls and bench show. exp reads them from the command line; the component
// exp-bench does the work (cli/components.hpp, cli/bench_verb.cpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run_ranks.hpp"

namespace encore::app {

/// How a measurement is printed and compared.
struct BenchOutputRequest {
  std::string against;  ///< an earlier one: its name, or a .json file
  std::string threshold = "5%";
  std::string svg;
  bool json = false;
};

/// The request of bench: all combinations of the values in its lists are measured.
struct MeasureRequest {
  std::vector<std::string> set, plugin_path;
  std::string backend, threads, ranks;
  std::optional<std::string> mpirun;
  std::string precision, batch_size, length;
  std::int64_t rounds = 10, batches = 4;
  bool order_cost = false;
  BenchOutputRequest output;
  std::string name;
  bool quiet = false;
  std::string file;
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

}  // namespace encore::app
