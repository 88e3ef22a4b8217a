// Sweep: the [sweep] table read and checked: axes of the grid, zips, random variables, exclusions,
// conditional options. Read next: proposal.hpp, which makes points of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/error.hpp"
#include "config/experiment_file.hpp"
#include "config/option_places.hpp"
#include "config/value.hpp"
#include "plan/conditional_option.hpp"
#include "plan/expression.hpp"

namespace encore {

/// The most points a sweep may have; beyond it a slip of the pen is likelier than a plan.
inline constexpr std::size_t most_points = 100000;

/// An option and the values it takes.
struct SweepAxis {
  std::string key;
  std::vector<std::string> path;
  Origin key_origin;
  std::vector<Value> values;
  std::vector<std::string> labels;  ///< short, different texts of the values, for names of runs
};

/// Axes of equal length that move in lock step.
using Zip = std::vector<SweepAxis>;

/// An option and the distribution its values are drawn from.
struct RandomVariable {
  enum class Law { uniform, log_uniform, integer, log_integer, choice };

  std::string key;
  std::vector<std::string> path;
  Origin key_origin;
  Origin origin;
  Law law = Law::uniform;
  double low = 0.0;
  double high = 0.0;          ///< inclusive
  std::vector<Value> values;  ///< of Law::choice
};

struct Sweep {
  std::int64_t seed = 1;
  std::int64_t draws = 1;
  std::vector<SweepAxis> grid;
  std::vector<Zip> zips;
  std::vector<RandomVariable> random;
  std::vector<Condition> exclusions;
  std::vector<ConditionalOption> conditional_options;  ///< by rising level; of options that are still varied

  /// Whether a condition of [sweep.when] asks about something drawn at random.
  bool has_random_condition() const;
  /// Number of points before exclusions and seeds; not more than most_points + 1 is counted.
  std::size_t size() const;
};

/// Reads [sweep] of `root`, which is the document's with its overrides set, and what the command line varies.
/// An option that the command line sets or varies is no longer varied by the file. `places` tells where an
/// unknown option belongs.
Sweep read_sweep(const Value& root, const ExperimentFile& document, const OptionPlaces& places,
                 Problems& problems);

/// The tables [search.space] and [search.when] of `table`, which is [search], and where it has them its
/// exclusions, as a sweep that only draws.
Sweep read_search_space(const Value& table, bool has_exclusions, const ExperimentFile& document,
                        const OptionPlaces& places, Problems& problems);

/// In [0, 1), with 53 bits: a pure function of its arguments.
double uniform_draw(std::int64_t seed, std::int64_t number, const std::string& key);
/// What lies at a share in [0, 1) of the law: the value itself, of Law::choice its place in `values`.
double coordinate_at(const RandomVariable& variable, double share);
/// The value that such a coordinate stands for.
Value value_of(const RandomVariable& variable, double coordinate);
/// Draw `number` of a variable: a pure function of (seed, number, key), equal on every machine.
Value draw(const RandomVariable& variable, std::int64_t seed, std::int64_t number);

}  // namespace encore
