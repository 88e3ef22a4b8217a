// SPDX-License-Identifier: BSD-3-Clause
// above_zero(): the epsilon of an optimizer in the type of the parameters, never zero. adam.cpp and lamb.cpp
// call it before an update. Results of runs depend on the value, so it must not change.
#pragma once

#include <limits>

namespace encore {

/// Returns the value; if it is too small for T, the smallest normal number of T. Zero would give 0 / 0 for an
/// element that has had no gradient yet, such as the row of a token that occurred in no batch.
template <class T>
T above_zero(double epsilon) {
  const T rounded = static_cast<T>(epsilon);
  return rounded > T(0) ? rounded : std::numeric_limits<T>::min();
}

}  // namespace encore
