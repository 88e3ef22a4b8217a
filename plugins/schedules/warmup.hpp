// SPDX-License-Identifier: BSD-3-Clause
// The length of a warm-up as an option: `warmup_steps`, or `warmup_ratio` as a share of all steps. The
// schedules of this folder that begin with a warm-up use it in options() and in their constructors.
// Experiment files and identities of runs contain the names of the options, so these never change.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <encore/plugin.hpp>

namespace encore_warmup {

/// Adds the option `warmup_ratio` to a schema that has `warmup_steps`.
inline encore::Schema& add_ratio(encore::Schema& schema) {
  return schema.optional("warmup_ratio", encore::OptionType::number,
                         {.help = "length of the warm-up as a share of all steps; replaces warmup_steps",
                          .min = 0.0,
                          .max = 1.0});
}

/// Returns `warmup_steps`, or `warmup_ratio` of the run rounded to whole steps. Only one may be given.
inline std::int64_t steps(const encore::Options& options, const encore::ScheduleContext& context) {
  const std::int64_t number = options.integer("warmup_steps");
  if (!options.has("warmup_ratio")) return number;
  if (options.given("warmup_steps"))
    throw encore::OptionError("warmup_ratio", "warmup_ratio and warmup_steps = " + std::to_string(number) +
                                                  " exclude each other: keep one of them");
  return std::llround(options.number("warmup_ratio") * static_cast<double>(context.total_steps));
}

}  // namespace encore_warmup
