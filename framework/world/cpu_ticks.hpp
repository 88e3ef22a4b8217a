// SPDX-License-Identifier: BSD-3-Clause
// read_cpu_ticks(): the CPU time of the whole machine or of some of its CPUs, from /proc/stat.
// runner/machine_noise.cpp (disturbances of a measurement) and train/machine_load.cpp (free cores) use it.
// The kernel defines the file.
#pragma once

#include <filesystem>
#include <optional>
#include <span>

namespace encore::world {

/// Clock ticks since the machine started, summed over the given CPUs.
struct CpuTicks {
  double busy = 0.0;   ///< without stolen time
  double nice = 0.0;   ///< the part of `busy` that went to processes of low priority
  double steal = 0.0;  ///< taken by the host of a virtual machine
  double all = 0.0;    ///< with idle time
};

/// `cpus`: numbers of CPUs; empty: all of them. Returns nothing if the file does not have them.
std::optional<CpuTicks> read_cpu_ticks(const std::filesystem::path& stat_file,
                                       std::span<const int> cpus = {});

}  // namespace encore::world
