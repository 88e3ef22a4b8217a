// See progress_line.hpp.
#include "cli/progress_line.hpp"

#include "cli/format.hpp"

namespace encore {

namespace {
constexpr auto silent_at_first = std::chrono::seconds(1);
constexpr auto live_interval = std::chrono::milliseconds(200);
constexpr auto progress_interval = std::chrono::seconds(10);
}  // namespace

ProgressLine::ProgressLine()
    : lines_(stderr, terminal_of(stderr)), next_(std::chrono::steady_clock::now() + silent_at_first) {}

void ProgressLine::show(const std::string& what, std::size_t done, std::size_t all, const std::string& unit) {
  const auto time = std::chrono::steady_clock::now();
  if (time < next_ || done >= all) return;
  const std::string text = what + " " + std::to_string(done) + " of " + std::to_string(all) + " " + unit;
  if (lines_.terminal().live) {
    next_ = time + live_interval;
    lines_.set(0, text);
    lines_.refresh();
  } else {
    next_ = time + progress_interval;
    lines_.print(clock_text(now()) + " " + text);
  }
}

}  // namespace encore
