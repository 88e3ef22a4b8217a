// SPDX-License-Identifier: BSD-3-Clause
// AdaptiveThreads trains with fewer threads while other programs use the cores, and with all of them when
// they are free again. worker/train_verb.cpp makes one unless the user has fixed the number (--threads). The
// Trainer calls it before the first step, between steps and between the batches of a scoring. Results do not
// depend on the number of threads (docs/concepts/equal_bits.md).
#pragma once

#include <chrono>
#include <filesystem>

#include <encore/device.hpp>

#include "train/machine_load.hpp"
#include "train/observer.hpp"
#include "train/thread_choice.hpp"

namespace encore::train {

class AdaptiveThreads {
 public:
  /// `unpins`: whether threads that OpenMP has bound to cores may move to all cores while there are fewer of
  /// them; false if the user has bound them. `root` is the folder that holds /proc and /sys. `device` and
  /// `observer` must outlive this object.
  AdaptiveThreads(const Device& device, Observer& observer, bool unpins, std::filesystem::path root = "/");

  /// Samples the machine if the last sample is half a second old; otherwise it returns within microseconds.
  void between_steps();
  /// Takes a sample of the last `seconds`, and changes the number of threads if next_choice() says so.
  void look(double seconds);
  int threads() const { return choice_.threads; }

 private:
  void apply(const ThreadChoice& next, const LoadSample& seen);

  const Device& device_;
  Observer& observer_;
  const bool unpins_;
  const int most_;
  MachineLoad load_;
  ThreadChoice choice_;
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
  bool first_ = true;
};

}  // namespace encore::train
