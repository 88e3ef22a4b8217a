// SPDX-License-Identifier: BSD-3-Clause
// Runs a disabled test of a test program in a child process with a given number of threads, because the
// number of threads is fixed when a process starts: the disabled test prints what the parent compares. Tests
// of equal bits over threads use it; the disabled test's name is a string in them.
#pragma once

#include <array>
#include <cstdio>
#include <string>

#include <encore/device.hpp>
#include <encore/error.hpp>

#include "support/places.hpp"

namespace encore::testing {

/// Called in the child: prints one line for the parent.
inline void print_digest(const std::string& digest) {
  std::printf("digest: %d %s\n", host_threads(), digest.c_str());
}

/// Called in the parent: returns what the disabled test `test` of `program` printed. `environment` has
/// "NAME=VALUE " for each further variable, with the blank at the end. Throws Error if the child fails or ran
/// with another number of threads.
inline std::string digest_of_child(const std::string& program, const std::string& test, int threads,
                                   const std::string& environment = {}) {
  const std::string command = "OMP_PROC_BIND=false OMP_NUM_THREADS=" + std::to_string(threads) + " " +
                              environment + ENCORE_BUILD_DIR + "/bin/tests/" + program +
                              " --gtest_also_run_disabled_tests --gtest_filter=" + test;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw Error("no child: " + command);
  std::string output;
  std::array<char, 4096> part;
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) output += part.data();
  if (pclose(pipe) != 0) throw Error("the child failed:\n" + output);
  const std::string start = "digest: " + std::to_string(threads) + " ";
  const std::size_t begin = output.find(start);
  if (begin == std::string::npos) throw Error("the child ran with another number of threads:\n" + output);
  return output.substr(begin + start.size(), output.find('\n', begin) - begin - start.size());
}

}  // namespace encore::testing
