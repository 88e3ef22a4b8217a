// SPDX-License-Identifier: BSD-3-Clause
// Cores describes what this process may use of the machine: its CPUs, which of them are hardware threads of
// one core, and how much time a control group grants. The control program divides them among workers
// (runner/places.hpp); a worker without --threads takes its number of threads from default_threads(). Numbers
// of threads change speed only, never results. read_cpu_ticks() says how busy CPUs are.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace encore::world {

struct Cores {
  std::vector<int> numbers;    ///< of CPUs; hardware threads of one core are adjacent
  int granted = 0;             ///< most CPUs at a time that a control group allows; 0: all
  std::vector<int> core = {};  ///< index of the core of each CPU; empty: each is its own core

  /// Returns the CPUs grouped by core, in the order of `numbers`.
  std::vector<std::vector<int>> by_core() const;
};

/// Returns the cores of this process. `root` is the folder that holds /proc and /sys.
Cores usable_cores(const std::filesystem::path& root = "/");
/// Returns the cores that the given CPUs belong to.
Cores describe_cores(std::vector<int> cpus, const std::filesystem::path& root);

/// The settings of OpenMP that the user has made in the environment.
struct OpenMpWishes {
  int threads = 0;       ///< $OMP_NUM_THREADS, its outermost level; 0: not set
  int limit = 0;         ///< $OMP_THREAD_LIMIT; 0: not set
  bool pinning = false;  ///< a variable that binds threads is set, so exp does not bind them
};
OpenMpWishes openmp_wishes();

/// Returns the default number of threads: that of the environment; else one for each core (the second
/// hardware thread of a core adds little to products that fill its vector units), at most as many as the
/// control group grants, and never more than most_threads.
int default_threads(const Cores& cores, const OpenMpWishes& wishes);

/// The most threads. Kokkos' tables of OpenMP threads have 512 places, and it writes beyond them without a
/// check.
inline constexpr int most_threads = 512;
/// Throws Error for an invalid --threads: negative, or more than most_threads. 0 means default_threads.
void require_threads(int threads);

/// Returns the numbers as ranges: "0-2,5".
std::string ranges_text(std::vector<int> numbers);

// --- How busy CPUs are (cpu_ticks.cpp)

/// Clock ticks since the machine started, summed over the given CPUs.
struct CpuTicks {
  double busy = 0.0;   ///< without stolen time
  double nice = 0.0;   ///< the part of `busy` that went to processes of low priority
  double steal = 0.0;  ///< taken by the host of a virtual machine
  double all = 0.0;    ///< with idle time
};

/// Reads the CPU time of the whole machine or of some of its CPUs, from /proc/stat or a file of its form.
/// runner/machine_noise.cpp (disturbances of a measurement) and train/machine_load.cpp (free cores) call it.
/// `cpus`: numbers of CPUs; empty: all of them. Returns nothing if the file does not have them.
std::optional<CpuTicks> read_cpu_ticks(const std::filesystem::path& stat_file,
                                       std::span<const int> cpus = {});

}  // namespace encore::world
