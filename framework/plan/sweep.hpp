// SPDX-License-Identifier: BSD-3-Clause
// Sweep: the [sweep] table, read and checked: axes of the grid, zips, random variables, exclusions,
// conditional options. Place in the flow: sweep_reader.cpp reads it -> proposal.hpp makes points of it ->
// point_maker.hpp makes runs of them. A search uses the random part as its space. Draws are functions of
// seed, number and key, and stored sweeps are drawn again, so they never change. A "point" is one choice of
// values, a "law" a distribution.
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

namespace encore::plan {

/// The largest number of points of a sweep. More are more likely a typing error than a plan.
inline constexpr std::size_t most_points = 100000;

/// An option and the values it takes.
struct SweepAxis {
  std::string key;
  std::vector<std::string> path;
  config::Origin key_origin;
  std::vector<config::Value> values;
  std::vector<std::string> labels;  ///< of the values, all different, for names of runs
};

/// Axes of equal length that advance together.
using Zip = std::vector<SweepAxis>;

/// An option and the distribution from which its values are drawn.
struct RandomVariable {
  enum class Law { uniform, log_uniform, integer, log_integer, choice };

  std::string key;
  std::vector<std::string> path;
  config::Origin key_origin;
  config::Origin origin;
  Law law = Law::uniform;
  double low = 0.0;
  double high = 0.0;                  ///< inclusive
  std::vector<config::Value> values;  ///< of Law::choice
};

struct Sweep {
  std::int64_t seed = 1;   ///< of the draws; runs have seeds of their own
  std::int64_t draws = 1;  ///< number of draws for each point of grid and zips
  std::vector<SweepAxis> grid;
  std::vector<Zip> zips;
  std::vector<RandomVariable> random;
  std::vector<Condition> exclusions;
  std::vector<ConditionalOption> conditional_options;  ///< by rising level; of options that are still varied

  /// Returns whether a condition of [sweep.when] asks about an option that is drawn at random.
  bool has_random_condition() const;
  /// Returns the number of points before exclusions and seeds. It stops counting at most_points + 1.
  std::size_t size() const;
};

/// Reads [sweep] of `root`, the root of the document after the overrides were applied, and the grid of the
/// command line. The file no longer varies an option that the command line sets or varies. `places` finds the
/// table to which an unknown option belongs.
Sweep read_sweep(const config::Value& root, const config::ExperimentFile& document,
                 const config::OptionPlaces& places, config::Problems& problems);

/// Reads the tables [search.space] and [search.when] of `table`, which is [search], and its exclusions if it
/// has them, as a sweep that only draws.
Sweep read_search_space(const config::Value& table, bool has_exclusions,
                        const config::ExperimentFile& document, const config::OptionPlaces& places,
                        config::Problems& problems);

/// Returns a number in [0, 1) with 53 bits. It is a pure function of its arguments.
double uniform_draw(std::int64_t seed, std::int64_t number, const std::string& key);
/// Returns the coordinate at a share in [0, 1) of the distribution: the value itself, or for Law::choice its
/// index in `values`.
double coordinate_at(const RandomVariable& variable, double share);
/// Returns the value for such a coordinate.
config::Value value_of(const RandomVariable& variable, double coordinate);
/// Returns draw `number` of a variable. It is a pure function of (seed, number, key), equal on every machine.
config::Value draw(const RandomVariable& variable, std::int64_t seed, std::int64_t number);

// --- Reading one variable (random_law.cpp, for sweep_reader.cpp)

/// Reads the distribution of a variable of [sweep.random] or [search.space], such as `uniform = [low, high]`:
/// its bounds or its values into `variable`. Returns false and adds to `problems` if something is wrong.
/// `table` is the name of the table in messages.
bool read_law(const config::Value& value, const std::string& table, RandomVariable& variable,
              config::Problems& problems);

/// Gives a value and everything in it the origin "sweep".
void mark_as_sweep(config::Value& value);

}  // namespace encore::plan
