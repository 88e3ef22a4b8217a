// See silence.hpp.
#include "runner/silence.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace encore {

namespace {

/// A shorter silence is never worth a word.
constexpr double shortest = 10.0;
/// Of a worker without a step yet: it may read data and train a vocabulary.
constexpr double shortest_at_start = 60.0;
/// So many times the usual step, and the longest pause until now.
constexpr double many_steps = 20.0, many_pauses = 3.0;

}  // namespace

bool Silence::noticeable() const {
  if (last_step_done) return false;
  if (!stepped) return seconds > shortest_at_start;
  return seconds > std::max({shortest, many_steps * usual_step, many_pauses * longest_pause});
}

Silence silence_of(const nlohmann::json& progress, double started, double now) {
  const auto number = [&](const char* key) {
    const auto found = progress.is_object() ? progress.find(key) : progress.end();
    return found != progress.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  const double last = number("time");
  return {.seconds = std::max(0.0, now - (last > 0.0 ? last : started)),
          .usual_step = number("step_seconds"),
          .longest_pause = number("longest_pause"),
          .stepped = last > 0.0,
          .last_step_done = number("total_steps") > 0.0 && number("step") >= number("total_steps")};
}

}  // namespace encore
