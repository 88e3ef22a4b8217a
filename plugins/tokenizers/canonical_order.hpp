// SPDX-License-Identifier: BSD-3-Clause
// Sorts combining marks canonically (Unicode 3.11, D109) in linear time, after bert_text.cpp and
// code_points.cpp have decomposed a text. utf8proc exchanges neighbours, which is quadratic in the marks
// after one letter: it took 40 seconds for 60,000 marks of one class before 60,000 of a lower one. The order
// is Unicode's, and tokens depend on it.
#pragma once

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace encore::tokenizers {

/// Returns Canonical_Combining_Class, or 0 if the code point is not a mark.
struct CombiningClass {
  std::uint8_t operator()(std::int32_t code_point) const {
    return static_cast<std::uint8_t>(utf8proc_get_property(code_point)->combining_class);
  }
};

/// Sorts each run of marks by class, and keeps the order within a class. Calls moved(begin, end) for each run
/// whose order changes, and class_of once for each code point.
template <class Moved, class ClassOf = CombiningClass>
void order_marks(std::vector<std::int32_t>& points, const Moved& moved, const ClassOf& class_of = {}) {
  thread_local std::vector<std::uint8_t> classes;  // of a run; reused by the next call
  thread_local std::vector<std::int32_t> run;
  for (std::size_t begin = 0; begin < points.size(); begin += classes.size() + 1) {
    classes.clear();
    for (std::size_t at = begin; at < points.size(); ++at) {
      const std::uint8_t of = class_of(points[at]);
      if (of == 0) break;
      classes.push_back(of);
    }
    if (std::is_sorted(classes.begin(), classes.end())) continue;
    std::array<std::size_t, 257> places{};  // where the marks of a class begin
    for (const std::uint8_t of : classes) ++places[of + 1U];
    for (std::size_t of = 1; of < places.size(); ++of) places[of] += places[of - 1];
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(begin);
    run.assign(first, first + std::ssize(classes));
    for (std::size_t i = 0; i < run.size(); ++i) points[begin + places[classes[i]]++] = run[i];
    moved(begin, begin + run.size());
  }
}

}  // namespace encore::tokenizers
