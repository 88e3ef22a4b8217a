// CPU time of the whole machine or of some of its CPUs, from /proc/stat. Place in the flow:
// runner/machine_noise.cpp (what disturbs a measurement), train/machine_load.cpp (which cores are free).
#pragma once

#include <filesystem>
#include <optional>
#include <span>

namespace encore {

/// In clock ticks since the machine started, summed over the CPUs that were asked for.
struct CpuTicks {
  double busy = 0.0;  ///< without stolen time
  double nice = 0.0;  ///< the part of `busy` that went to processes of low priority
  double steal = 0.0;
  double all = 0.0;
};

/// cpus: numbers of the CPUs; empty: all of them. Nothing where the file does not say.
std::optional<CpuTicks> read_cpu_ticks(const std::filesystem::path& stat_file,
                                       std::span<const int> cpus = {});

}  // namespace encore
