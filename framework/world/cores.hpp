// Cores: what of the machine this process may use: CPUs by affinity, which of them are hardware threads of
// one core, and how much time a control group grants. Place in the flow: the control program divides them
// among workers (runner/places.hpp); a worker that was told nothing takes its number of threads from here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace encore {

struct Cores {
  std::vector<int> numbers;    ///< of CPUs; the hardware threads of one core stand side by side
  int granted = 0;             ///< as many at once, where a control group limits the time; 0: all of them
  std::vector<int> core = {};  ///< of each CPU, which core it belongs to; empty: each is a core of its own

  /// CPUs grouped by core, in the order of `numbers`.
  std::vector<std::vector<int>> by_core() const;
};

/// Those of this process. `root` is where /proc and /sys are looked for.
Cores usable_cores(const std::filesystem::path& root = "/");
/// The same for CPUs that are given.
Cores describe_cores(std::vector<int> cpus, const std::filesystem::path& root);

/// What the environment asks of OpenMP.
struct OpenMpWishes {
  int threads = 0;       ///< $OMP_NUM_THREADS, its outermost level; 0: not said
  int limit = 0;         ///< $OMP_THREAD_LIMIT; 0: none
  bool pinning = false;  ///< one of the variables that bind threads is set: nobody else binds them
};
OpenMpWishes openmp_wishes();

/// Threads to use when nothing else was asked for: what the environment says; else one for each core (the
/// second hardware thread of a core adds little to products that fill its vector units), at most as many as
/// the control group grants, and never more than most_threads.
int default_threads(const Cores& cores, const OpenMpWishes& wishes);

/// Kokkos' tables of OpenMP threads have so many places, and it writes behind them without a word.
inline constexpr int most_threads = 512;
/// Throws Error when --threads cannot be that: negative, or more than that; 0 means default_threads.
void require_threads(int threads);

/// "0-2,5"
std::string ranges_text(std::vector<int> numbers);

}  // namespace encore
