// SPDX-License-Identifier: BSD-3-Clause
// Finds the stored run with the most similar question for `exp explain`. The distance of two runs is the
// number of fields (difference.hpp) of their questions that differ. Nothing is stored; the index is built at
// each call of the program. Read nearest_run.hpp first.
#include "analysis/nearest_run.hpp"

#include <algorithm>
#include <limits>

namespace encore::analysis {

namespace {

using Numbered = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Counts the fields that one of the questions lacks, or that have another value.
std::size_t distance(const Numbered& a, const Numbered& b) {
  std::size_t count = 0;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    if (left->first == right->first) {
      count += left->second != right->second ? 1 : 0;
      ++left;
      ++right;
    } else {
      ++count;
      left->first < right->first ? ++left : ++right;
    }
  }
  return count + static_cast<std::size_t>((a.end() - left) + (b.end() - right));
}

}  // namespace

NearestRun::NearestRun(store::Store& store) {
  const auto number = [this](const std::string& text) {
    return numbers_.try_emplace(text, static_cast<std::uint32_t>(numbers_.size())).first->second;
  };
  for (const store::RunRow& run : store.list_runs()) {
    Question question;
    for (const Field& field : question_facts(store, run))
      question.emplace_back(number(key_of(field)), number(field.value.dump()));
    std::sort(question.begin(), question.end());
    runs_.emplace_back(run.number, std::move(question));
  }
}

std::optional<std::int64_t> NearestRun::find(const Facts& facts, const std::set<std::int64_t>& except) const {
  // The number of a value that no stored run has. It differs from every stored number, so one is enough for
  // all unknown values; unknown keys get numbers of their own.
  constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();
  Question question;
  std::uint32_t next = static_cast<std::uint32_t>(numbers_.size());
  for (const Field& field : facts) {
    const auto key = numbers_.find(key_of(field)), value = numbers_.find(field.value.dump());
    question.emplace_back(key == numbers_.end() ? next++ : key->second,
                          value == numbers_.end() ? unknown : value->second);
  }
  std::sort(question.begin(), question.end());
  std::optional<std::int64_t> nearest;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const auto& [run, other] : runs_) {
    if (except.contains(run)) continue;
    const std::size_t apart = distance(question, other);
    if (apart >= least) continue;
    least = apart;
    nearest = run;
  }
  return nearest;
}

}  // namespace encore::analysis
