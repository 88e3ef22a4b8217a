// ProgressLine: what a verb says while it is at work, such as on the plan of a large sweep, on the standard
// error: nothing in the first second; then one line that is replaced on a terminal, and elsewhere a line with
// the time every ten seconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "cli/terminal.hpp"

namespace encore {

class ProgressLine {
 public:
  ProgressLine();
  /// "planned 12000 of 100000 points": `what` is "planned", `unit` "points".
  void show(const std::string& what, std::size_t done, std::size_t all, const std::string& unit);

 private:
  LiveLines lines_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace encore
