// SPDX-License-Identifier: BSD-3-Clause
// Implements Scale and its ticks: round steps (1, 2, 5 times a power of ten) on linear axes, powers on
// logarithmic ones. plot.cpp and the charts call it. It must survive any finite numbers, also the largest
// doubles. Read scale.hpp first.
#include "document/scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/readable_text.hpp"

namespace encore::document {

namespace {

/// A distance of two ticks: mantissa * 10^exponent.
struct Step {
  int mantissa = 1, exponent = 0;

  double value() const { return times(1.0); }
  /// Returns count times the step, computed so that a result of few digits is exact.
  double times(double count) const {
    const double power = std::pow(10.0, std::abs(exponent));
    return exponent < 0 ? count * mantissa / power : count * mantissa * power;
  }
};

/// Returns the exponent of the power of ten below a positive number. 10 to the result is never 0 or infinite:
/// for 0, infinities and numbers at the edge of doubles, it returns the nearest exponent by whose power one
/// can divide.
int power_below(double number) {
  return static_cast<int>(std::clamp(std::floor(std::log10(number) + 1e-9), -300.0, 300.0));
}

/// Returns the smallest round step with which at most `most` - 1 steps cover the span.
Step step_for(double span, int most) {
  Step step{1, power_below(span / most) - 1};
  while (span / step.value() > (most - 1) * (1.0 + 1e-9)) {
    if (step.mantissa == 5) ++step.exponent;
    step.mantissa = step.mantissa == 1 ? 2 : step.mantissa == 2 ? 5 : 1;
  }
  return step;
}

/// The form of all numbers of one axis.
struct Style {
  double divisor = 1.0;
  std::string suffix;
  int digits = 0;
};

Style style_for(double largest, double step) {
  Style style;
  static const std::array<std::pair<double, const char*>, 4> prefixes = {
      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  for (const auto& [divisor, suffix] : prefixes)
    if (largest >= 10 * divisor && step >= divisor / 10) {
      style.divisor = divisor;
      style.suffix = suffix;
      break;
    }
  if (largest < 1e-3 || largest >= 1e16) {
    const int power = power_below(largest);
    style.divisor = std::pow(10.0, power);
    style.suffix = "e" + std::to_string(power);
  }
  style.digits = std::clamp(-power_below(step / style.divisor), 0, 15);
  return style;
}

std::string styled(double value, const Style& style) {
  if (value == 0.0) return "0";
  const std::string digits = fixed_text(value / style.divisor, style.digits);
  return with_minus_sign(style.suffix.empty() ? grouped(digits) : digits + style.suffix);
}

std::vector<Tick> linear_ticks(const Range& range, int most) {
  const Step step = step_for(range.high - range.low, most);
  const double slack = 1e-9 * (range.high - range.low);
  const Style style =
      style_for(std::max({std::abs(range.low), std::abs(range.high), step.value()}), step.value());
  std::vector<Tick> result;
  const double first = std::ceil((range.low - slack) / step.value());
  for (double count = first; step.times(count) <= range.high + slack; ++count)
    result.push_back({step.times(count), styled(step.times(count), style)});
  return result;
}

std::vector<Tick> logarithmic_ticks(const Range& range, int most) {
  const int first = static_cast<int>(std::floor(std::log10(range.low) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(range.high) - 1e-9));
  std::vector<Tick> result;
  const auto add = [&](int mantissa, int exponent) {
    const double value = Step{mantissa, exponent}.value();
    if (value >= range.low * (1 - 1e-9) && value <= range.high * (1 + 1e-9))
      // Powers of a million and more are read by their exponent.
      result.push_back({value, exponent < 6 ? short_text(value, 1)
                                            : std::to_string(mantissa) + "e" + std::to_string(exponent)});
  };
  for (const std::vector<int>& mantissas : {std::vector<int>{1, 2, 5}, {1, 3}, {1}}) {
    result.clear();
    for (int exponent = first; exponent <= last; ++exponent)
      for (const int mantissa : mantissas) add(mantissa, exponent);
    if (static_cast<int>(result.size()) <= most) break;
  }
  if (result.size() < 2) {  // less than one step of 1, 2, 5: ticks of a linear axis
    return linear_ticks({range.low, range.high, false}, most);
  }
  const int every = (static_cast<int>(result.size()) + most - 1) / most;
  std::vector<Tick> kept;
  for (std::size_t i = 0; i < result.size(); i += static_cast<std::size_t>(every)) kept.push_back(result[i]);
  return kept;
}

/// Returns the axis without ends that have no meaning: not finite, in the wrong order, or not positive on a
/// logarithmic axis.
Axis with_sound_ends(Axis axis) {
  for (auto* end : {&axis.low, &axis.high}) {
    const bool logarithmic = axis.scale == Axis::Scale::logarithmic;
    if (*end && (!std::isfinite(**end) || (logarithmic && **end <= 0.0))) end->reset();
  }
  if (axis.low && axis.high && *axis.low >= *axis.high) axis.low = axis.high = std::nullopt;
  return axis;
}

}  // namespace

void AxisRange::add(double value) {
  if (!std::isfinite(value) || (logarithmic && value <= 0.0)) return;
  low = seen ? std::min(low, value) : value;
  high = seen ? std::max(high, value) : value;
  seen = true;
}

bool Range::can_show(double value) const {
  return std::isfinite(value) && (!logarithmic || value > 0.0);
}

double Range::share(double value) const {
  if (logarithmic) return (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
  // Both are halved, so that the span of the largest numbers is finite.
  return (value / 2 - low / 2) / (high / 2 - low / 2);
}

Range range_of(const Axis& given, const AxisRange& extent, bool round) {
  const Axis axis = with_sound_ends(given);
  Range range;
  range.logarithmic = axis.scale == Axis::Scale::logarithmic;
  const double unset_low = range.logarithmic ? 0.1 : 0.0;
  range.low = axis.low.value_or(extent.seen ? extent.low : unset_low);
  range.high = axis.high.value_or(extent.seen ? extent.high : 1.0);
  if (range.logarithmic && range.low <= 0.0) range.low = extent.seen ? extent.low : unset_low;
  // Limits numbers so large that their span overflows, or so small that steps vanish.
  range.low = std::clamp(range.low, range.logarithmic ? 1e-300 : -1e300, 1e300);
  range.high = std::clamp(range.high, range.logarithmic ? 1e-300 : -1e300, 1e300);
  const double tiny = std::max(1e-300, 1e-12 * std::max(std::abs(range.low), std::abs(range.high)));
  if (range.high - range.low <= tiny) {
    const double room = std::abs(range.low) <= tiny ? 1.0 : std::abs(range.low) * 0.1;
    if (!axis.high) range.high = std::max(range.low, range.high) + room;
    if (!axis.low) range.low = range.logarithmic ? range.low / 1.5 : range.low - room;
    if (range.high - range.low <= tiny) range.high = range.low + room;
    if (range.logarithmic && axis.high == range.high) range.low = std::min(range.low, range.high / 1.5);
  }
  if (!round) return range;
  if (range.logarithmic) {
    const auto down = [](double value) { return std::pow(10.0, std::floor(std::log10(value) + 1e-9)); };
    if (range.high / range.low < 10.0) return range;
    if (!axis.low) range.low = down(range.low);
    if (!axis.high) range.high = down(range.high * (10 - 1e-6));
    return range;
  }
  const Step step = step_for(range.high - range.low, 6);
  const double size = step.value();
  if (!axis.low) range.low = step.times(std::floor(range.low / size + 1e-9));
  if (!axis.high) range.high = step.times(std::ceil(range.high / size - 1e-9));
  return range;
}

std::vector<Tick> ticks(const Range& range, int most) {
  most = std::max(most, 2);
  std::vector<Tick> found;
  // The axis may have no multiple of a large step: then a smaller step is tried.
  for (int steps = most; found.empty() && steps < most + 20; ++steps)
    found = range.logarithmic ? logarithmic_ticks(range, steps) : linear_ticks(range, steps);
  if (found.size() > static_cast<std::size_t>(most)) found.resize(static_cast<std::size_t>(most));
  return found;
}

}  // namespace encore::document
