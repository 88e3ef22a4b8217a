// SPDX-License-Identifier: BSD-3-Clause
// NoiseMeter: measures what else the machine did during a measurement: time that the host of a virtual
// machine took away, time that other processes used, and the load before. bench_run.cpp calls it around the
// rounds. It reads /proc; without it all values are unknown. The members of found() are stored and keep their
// names.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "world/cores.hpp"

namespace encore::runner {

class NoiseMeter {
 public:
  /// `proc` is the path of /proc.
  explicit NoiseMeter(std::filesystem::path proc = "/proc");
  void begin();
  void end();
  /// Returns {load_before, steal_share, others_share}: shares of the time of all cores; a member is missing
  /// if it is unknown. Others: everything except this process and its children.
  nlohmann::json found() const;

 private:
  struct Moment {
    std::optional<world::CpuTicks> ticks;
    double own = 0.0;  ///< seconds of this process and of its children
  };
  Moment look() const;
  double own_seconds() const;

  std::filesystem::path proc_;
  std::optional<double> load_before_;
  Moment first_, last_;
};

}  // namespace encore::runner
