// SPDX-License-Identifier: BSD-3-Clause
// Runs the programs of the worker: encore-worker, which trains and uses models, and beside it one program for
// each verb that a first run does not need: encore-worker-bench, encore-worker-check-plugin,
// encore-worker-export. exp only calls encore-worker, which becomes the other program; so a wrapper in
// $ENCORE_WORKER has all verbs. encore-worker does all training: its SHA-256 is a part of the numeric
// environment. Read next: main.cpp, bench_main.cpp.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "worker/verbs.hpp"

namespace encore {

/// The options of a call; all verbs know the same ones.
struct WorkerCall {
  boost::program_options::variables_map values;
  std::string verb;
  int threads = 1;                      ///< of Kokkos, which is open
  std::vector<std::string> words = {};  ///< what follows the verb

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
  bool computes = true;  ///< else it reads its words itself, and Kokkos stays closed
};
using WorkerVerbs = std::map<std::string, WorkerVerb>;

/// Runs all of a main(): options, Kokkos, the verb, errors.
int run_worker_program(int argc, char** argv, const WorkerVerbs& verbs);

}  // namespace encore
