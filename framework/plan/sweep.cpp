// SPDX-License-Identifier: BSD-3-Clause
// Sweep: counts the points of a sweep, and tests whether its conditions depend on random draws. plan.cpp
// calls it. Neither decides which points there are; they only describe a sweep. Read sweep.hpp first;
// sweep_reader.cpp reads a sweep.
#include "plan/sweep.hpp"

#include <algorithm>

namespace encore::plan {

bool Sweep::has_random_condition() const {
  return std::ranges::any_of(conditional_options, [&](const ConditionalOption& option) {
    return std::ranges::any_of(option.condition.expression.keys(), [&](const std::string& key) {
      return std::ranges::any_of(random, [&](const RandomVariable& variable) { return variable.key == key; });
    });
  });
}

std::size_t Sweep::size() const {
  std::size_t points = 1;
  const auto times = [&](std::size_t count) {
    points = std::min(points * std::min(count, most_points), most_points + 1);
  };
  for (const SweepAxis& axis : grid) times(axis.values.size());
  for (const Zip& zip : zips) times(zip.front().values.size());
  if (!random.empty()) times(static_cast<std::size_t>(draws));
  return points;
}

}  // namespace encore::plan
