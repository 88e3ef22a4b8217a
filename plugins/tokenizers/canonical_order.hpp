// Orders combining marks canonically (Unicode 3.11, D109) in linear time. utf8proc exchanges neighbours,
// which is quadratic in the marks behind one letter: 60,000 of one class before 60,000 of a lower one took it
// 40 seconds. Place in the flow: bert_text.cpp and code_points.cpp decompose text and order its marks here.
#pragma once

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace encore::tokenizers {

/// Returns Canonical_Combining_Class; 0 if the code point is not a mark.
struct CombiningClass {
  std::uint8_t operator()(std::int32_t code_point) const {
    return static_cast<std::uint8_t>(utf8proc_get_property(code_point)->combining_class);
  }
};

/// Sorts each run of marks by class, equal classes in their order. Calls moved(begin, end) for each run whose
/// order changed, and class_of once for each code point.
template <class Moved, class ClassOf = CombiningClass>
void order_marks(std::vector<std::int32_t>& points, const Moved& moved, const ClassOf& class_of = {}) {
  thread_local std::vector<std::uint8_t> classes;  // of a run; kept from call to call
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
