// SPDX-License-Identifier: BSD-3-Clause
// MachineLoad measures how much of the machine other programs leave to this process, from /proc and the
// control groups. adaptive_threads.cpp calls look() between steps and passes its samples to the functions of
// thread_choice.hpp, which choose the number of threads.
// Results of training do not depend on it, so the way to measure may change.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "train/thread_choice.hpp"
#include "world/cores.hpp"

namespace encore::train {

class MachineLoad {
 public:
  /// `cpus`: the numbers of the CPUs that this process may use. `root` is the folder that holds /proc and
  /// /sys.
  explicit MachineLoad(std::vector<int> cpus, std::filesystem::path root = "/");

  /// Returns the load during the `seconds` since the last call, or since the construction. If /proc does not
  /// show what other processes use, all CPUs count as free.
  LoadSample look(double seconds);
  double cpus() const { return static_cast<double>(cpus_.size()); }

 private:
  struct Moment {
    std::optional<world::CpuTicks> ticks;
    double own_ticks = 0.0;                       ///< user and system time of this process
    std::map<std::string, double> thread_waited;  ///< nanoseconds each thread waited for a CPU
    std::optional<double> group_seconds;          ///< CPU time of the group that limits this process
  };
  Moment now() const;

  const std::vector<int> cpus_;
  const std::filesystem::path root_;
  const bool low_priority_;  ///< this process has low priority itself
  Moment last_;
};

}  // namespace encore::train
