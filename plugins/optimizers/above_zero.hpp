// Converts the epsilon of optimizers to the type of the parameters.
#pragma once

#include <limits>

namespace encore {

/// A value too small for T becomes its smallest normal number, since zero makes 0 / 0 of an element that
/// has had no gradient yet, such as the row of a token that no batch had.
template <class T>
T above_zero(double epsilon) {
  const T rounded = static_cast<T>(epsilon);
  return rounded > T(0) ? rounded : std::numeric_limits<T>::min();
}

}  // namespace encore
