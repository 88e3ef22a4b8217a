// SPDX-License-Identifier: BSD-3-Clause
// Implements Hold (hold.hpp): makes the folder and the environment that hold workers in a step, and waits
// until workers wait there. The names of the variables are those that support/pause.hpp reads.
#include "system/control/hold.hpp"

#include <gtest/gtest.h>

namespace encore::system_test {

namespace fs = std::filesystem;

Hold::Hold(Sandbox& sandbox, std::int64_t step, const std::string& run) : sandbox_(sandbox) {
  static int number = 0;
  folder_ = sandbox.folder() / ("hold-" + std::to_string(++number));
  fs::create_directory(folder_);
  sandbox.set("PAUSE_AT", std::to_string(step) + ":" + folder_.string());
  sandbox.set("PAUSE_ONLY", run);
}

std::vector<pid_t> Hold::wait_for(std::size_t workers) const {
  std::vector<pid_t> found;
  const bool came = sandbox_.wait_until([&] {
    found.clear();
    for (const auto& file : fs::directory_iterator(folder_)) {
      const pid_t process = std::stoi(file.path().filename());
      if (!has_ended(process)) found.push_back(process);
    }
    return found.size() >= workers;
  });
  EXPECT_TRUE(came) << found.size() << " of " << workers
                    << " workers came to the step at which they are held";
  return found;
}

void Hold::release() {
  std::error_code ignored;  // released before
  fs::rename(folder_, folder_.string() + "-released", ignored);
}

}  // namespace encore::system_test
