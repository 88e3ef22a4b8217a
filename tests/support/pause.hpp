// SPDX-License-Identifier: BSD-3-Clause
// Pause: holds a worker in a state for a test, on a machine of any speed. The worker waits in the step that
// PAUSE_AT=STEP:FOLDER names, before anything of that step counts. It shows that it waits by a file in
// FOLDER, named by its process id, and continues when FOLDER is removed. The scripted worker calls it
// (control/fake_worker.cpp), and the real one through a schedule (survival/pausing_schedule.cpp); the test's
// side is control/hold.hpp.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace encore::testing {

class Pause {
 public:
  Pause() {
    const char* text = std::getenv("PAUSE_AT");
    if (text == nullptr) return;
    char* end = nullptr;
    step_ = std::strtoll(text, &end, 10);
    folder_ = end + 1;
  }

  /// Returns whether the worker must wait at `step`, and sleeps for two milliseconds if so. Call it until it
  /// returns false.
  bool holds(std::int64_t step) {
    if (step != step_ || !std::filesystem::exists(folder_)) return false;
    if (!shown_) std::ofstream(folder_ / std::to_string(::getpid()));
    shown_ = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return true;
  }

 private:
  std::int64_t step_ = -1;
  std::filesystem::path folder_;
  bool shown_ = false;
};

}  // namespace encore::testing
