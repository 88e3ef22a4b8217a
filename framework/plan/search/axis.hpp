// SPDX-License-Identifier: BSD-3-Clause
// Axis: maps a variable of the search space to a coordinate from 0 to 1 on which its distribution is uniform,
// and back. TPE (tpe.cpp) and the trees of importance.hpp see trials only in these coordinates. Stored
// searches are computed again with it, so its results keep their bits. Read next: plan/sweep.hpp for
// RandomVariable.
#pragma once

#include <cstddef>

#include "plan/sweep.hpp"

namespace encore::plan::search {

/// The place of a value on its axis: logarithmic if the variable is; for a choice its index in the list.
struct Cell {
  double low = 0.0, high = 0.0;  ///< the borders of a whole number; one point of any other value
  bool absent = false;           ///< the conditions of the space left the variable out of this trial

  double center() const { return 0.5 * (low + high); }
};

struct AxisShape {
  enum class Kind { number, whole, choice };
  Kind kind = Kind::number;
  std::size_t choices = 0;
};

/// Keeps a reference to the variable, which must outlive it.
class Axis {
 public:
  explicit Axis(const RandomVariable& variable);

  AxisShape shape() const;
  /// Returns the place of a value, which is a coordinate of the trial (coordinate_at in plan/sweep.hpp).
  Cell cell(double value) const;
  /// Returns the value at a place in [0, 1]. For a choice, place and value are its index in the list.
  double value(double place) const;

 private:
  double along(double value) const;
  double position(double value) const;

  const RandomVariable* variable_;
  double low_ = 0.0, high_ = 1.0;
};

}  // namespace encore::plan::search
