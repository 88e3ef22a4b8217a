// SPDX-License-Identifier: BSD-3-Clause
// The formulas of ranking_measures.hpp, with the conventions of trec_eval: the gain is the grade, the
// discount is log2(rank + 1), and the denominator counts all judged documents, found or not. Tests compare
// the values with those of ir-measures, so a formula may not change. In labels only what stands behind the
// last "=" can be a grade, and only if it is a whole number; otherwise the sign belongs to the id. Read
// ranking_measures.hpp first.
#include "ranking_measures.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

namespace encore::ranking {
namespace {

int grade_of(const Grades& grades, const std::string& id) {
  const auto found = grades.find(id);
  return found == grades.end() ? 0 : std::max(found->second, 0);
}

/// Returns grade / log2(rank + 1) of the document with this index, which is rank - 1.
double discounted(int grade, std::size_t index) {
  return static_cast<double>(grade) / std::log2(static_cast<double>(index) + 2.0);
}

}  // namespace

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

std::size_t count_relevant(const Grades& grades) {
  return static_cast<std::size_t>(
      std::ranges::count_if(grades, [](const auto& judged) { return judged.second > 0; }));
}

double ndcg(Ranking ranking, const Grades& grades, std::size_t depth) {
  std::vector<int> best;
  for (const auto& [id, grade] : grades)
    if (grade > 0) best.push_back(grade);
  std::ranges::sort(best, std::greater<>());
  double ideal = 0.0, sum = 0.0;
  for (std::size_t i = 0; i < std::min(depth, best.size()); ++i) ideal += discounted(best[i], i);
  for (std::size_t i = 0; i < std::min(depth, ranking.size()); ++i)
    sum += discounted(grade_of(grades, ranking[i]), i);
  return ideal > 0.0 ? sum / ideal : 0.0;
}

double reciprocal_rank(Ranking ranking, const Grades& grades) {
  for (std::size_t i = 0; i < ranking.size(); ++i)
    if (grade_of(grades, ranking[i]) > 0) return 1.0 / static_cast<double>(i + 1);
  return 0.0;
}

double recall(Ranking ranking, const Grades& grades, std::size_t depth) {
  const std::size_t relevant = count_relevant(grades);
  std::size_t found = 0;
  for (std::size_t i = 0; i < std::min(depth, ranking.size()); ++i)
    found += grade_of(grades, ranking[i]) > 0 ? 1 : 0;
  return relevant > 0 ? static_cast<double>(found) / static_cast<double>(relevant) : 0.0;
}

double average_precision(Ranking ranking, const Grades& grades) {
  const std::size_t relevant = count_relevant(grades);
  std::size_t found = 0;
  double sum = 0.0;
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    if (grade_of(grades, ranking[i]) == 0) continue;
    ++found;
    sum += static_cast<double>(found) / static_cast<double>(i + 1);
  }
  return relevant > 0 ? sum / static_cast<double>(relevant) : 0.0;
}

}  // namespace encore::ranking
