// SPDX-License-Identifier: BSD-3-Clause
// Axis: transforms the values of a variable to coordinates from 0 to 1, and back, by its distribution. TPE
// and importance use it. Stored searches are recomputed with it, so results must keep their bits. Read
// axis.hpp first.
#include "plan/search/axis.hpp"

#include <algorithm>

#include "plan/search/search_math.hpp"

namespace encore::plan::search {

using Law = RandomVariable::Law;
using Kind = AxisShape::Kind;

Axis::Axis(const RandomVariable& variable) : variable_(&variable) {
  if (shape().kind == Kind::choice) return;
  const double half = shape().kind == Kind::whole ? 0.5 : 0.0;
  low_ = along(variable.low - half);
  high_ = along(variable.high + half);
}

AxisShape Axis::shape() const {
  if (variable_->law == Law::choice) return {Kind::choice, variable_->values.size()};
  const bool whole = variable_->law == Law::integer || variable_->law == Law::log_integer;
  return {whole ? Kind::whole : Kind::number, 0};
}

Cell Axis::cell(double value) const {
  if (shape().kind == Kind::choice) return {value, value};
  if (shape().kind == Kind::whole) return {position(value - 0.5), position(value + 0.5)};
  const double place = position(value);
  return {place, place};
}

double Axis::value(double place) const {
  return shape().kind == Kind::choice ? place : coordinate_at(*variable_, std::min(place, 1.0 - 0x1p-53));
}

double Axis::along(double value) const {
  const bool logarithmic = variable_->law == Law::log_uniform || variable_->law == Law::log_integer;
  return logarithmic ? logarithm(value) : value;
}

double Axis::position(double value) const {
  return high_ > low_ ? std::clamp((along(value) - low_) / (high_ - low_), 0.0, 1.0) : 0.5;
}

}  // namespace encore::plan::search
