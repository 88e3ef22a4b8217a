// SPDX-License-Identifier: BSD-3-Clause
// run_worker_program() is the main() of all programs of the worker: encore-worker, and encore-worker-bench,
// encore-worker-check-plugin and encore-worker-export for verbs that a first run does not need. exp starts
// only encore-worker, which replaces itself with the other program, so a wrapper in $ENCORE_WORKER has all
// verbs. With ENCORE_ONE_WORKER (cmake/options.cmake) encore-worker has these verbs itself. All training
// stays in encore-worker, whose SHA-256 is part of the numeric environment.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "worker/verbs.hpp"

namespace encore::worker {

/// The options of a call, the same for all verbs.
struct WorkerCall {
  boost::program_options::variables_map values;
  std::string verb;
  int threads = 1;                      ///< threads of Kokkos, which is initialized
  std::vector<std::string> words = {};  ///< the arguments after the verb

  std::string text(const char* option) const { return values[option].as<std::string>(); }
  std::int64_t whole(const char* option) const { return values[option].as<std::int64_t>(); }
  double number(const char* option) const { return values[option].as<double>(); }
  bool flag(const char* option) const { return values[option].as<bool>(); }
  int descriptor(const char* option) const { return values[option].as<int>(); }
  std::vector<std::string> texts(const char* option) const {
    return values[option].as<std::vector<std::string>>();
  }
  /// Returns --run-folder. Throws Error without it.
  std::filesystem::path run_folder() const;
  /// Returns --run-folder, --plugin-folder, --int8 and --int4.
  TrainedRunArguments trained_run() const;
};

struct WorkerVerb {
  std::function<int(const WorkerCall&)> run;
  bool computes = true;  ///< false: the verb needs no Kokkos and reads its words itself
};
using WorkerVerbs = std::map<std::string, WorkerVerb>;

/// Return the verbs that have a program of their own: bench, check-plugin and export.
WorkerVerbs bench_verbs();
WorkerVerbs check_plugin_verbs();
WorkerVerbs export_verbs();

/// Does the whole work of a main(): options, Kokkos, the verb, errors. Returns the exit code.
int run_worker_program(int argc, char** argv, const WorkerVerbs& verbs);

}  // namespace encore::worker
