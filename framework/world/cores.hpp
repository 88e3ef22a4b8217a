// SPDX-License-Identifier: BSD-3-Clause
// Cores says what this process may use of the machine: CPUs by affinity, which of them are hardware threads
// of one core, and how much time a control group grants. The control program divides them among workers
// (runner/places.hpp); a worker without --threads takes its number of threads from here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace encore {

struct Cores {
  std::vector<int> numbers;    ///< of CPUs; the hardware threads of one core stand side by side
  int granted = 0;             ///< as many at once, where a control group limits the time; 0: all of them
  std::vector<int> core = {};  ///< of each CPU, which core it belongs to; empty: each is a core of its own

  /// Returns the CPUs grouped by core, in the order of `numbers`.
  std::vector<std::vector<int>> by_core() const;
};

/// Returns those of this process. `root` is the folder that holds /proc and /sys.
Cores usable_cores(const std::filesystem::path& root = "/");
/// Returns the same for the given CPUs.
Cores describe_cores(std::vector<int> cpus, const std::filesystem::path& root);

/// The settings of OpenMP in the environment.
struct OpenMpWishes {
  int threads = 0;       ///< $OMP_NUM_THREADS, its outermost level; 0: not said
  int limit = 0;         ///< $OMP_THREAD_LIMIT; 0: none
  bool pinning = false;  ///< a variable that binds threads is set, so exp does not bind them
};
OpenMpWishes openmp_wishes();

/// Returns the default number of threads: that of the environment; else one for each core (the second
/// hardware thread of a core adds little to products that fill its vector units), at most as many as the
/// control group grants, and never more than most_threads.
int default_threads(const Cores& cores, const OpenMpWishes& wishes);

/// Kokkos' tables of OpenMP threads have 512 places, and it silently writes behind them.
inline constexpr int most_threads = 512;
/// Throws Error for an invalid --threads: negative, or more than that. 0 means default_threads.
void require_threads(int threads);

/// Returns "0-2,5".
std::string ranges_text(std::vector<int> numbers);

}  // namespace encore
