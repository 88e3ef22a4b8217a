// SPDX-License-Identifier: BSD-3-Clause
// The form of grades in labels. Only what stands behind the last "=" can be a grade, and only if it is a
// whole number; otherwise the sign belongs to the id. Read judged_documents.hpp first.
#include "judged_documents.hpp"

#include <algorithm>
#include <charconv>

namespace encore::ranking {

Grades grades_in(const std::vector<std::string>& labels) {
  Grades grades;
  for (const std::string& label : labels) {
    std::string id = label;
    int grade = 1;
    if (const std::size_t sign = label.rfind('='); sign != std::string::npos && sign > 0) {
      const char *begin = label.data() + sign + 1, *end = label.data() + label.size();
      const auto [stop, failure] = std::from_chars(begin, end, grade);
      if (failure == std::errc() && stop == end)
        id = label.substr(0, sign);
      else
        grade = 1;
    }
    const auto [known, is_new] = grades.emplace(std::move(id), grade);
    if (!is_new) known->second = std::max(known->second, grade);
  }
  return grades;
}

}  // namespace encore::ranking
