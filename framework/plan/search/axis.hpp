// Axis: a variable of the space as a coordinate from 0 to 1 on which its law is uniform, and what its values
// are there. Place in the flow: the densities of tpe.hpp and the trees of importance.hpp see trials through
// it.
#pragma once

#include <cstddef>

#include "plan/sweep.hpp"

namespace encore::search {

/// Where a value lies on its axis: a logarithm where the law has one; a choice has its place in the list.
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

/// Refers to the variable.
class Axis {
 public:
  explicit Axis(const RandomVariable& variable);

  AxisShape shape() const;
  Cell cell(double value) const;
  /// What lies at a place in [0, 1]; of a choice the place in the list is the value.
  double value(double place) const;

 private:
  double along(double value) const;
  double position(double value) const;

  const RandomVariable* variable_;
  double low_ = 0.0, high_ = 1.0;
};

}  // namespace encore::search
