// SPDX-License-Identifier: BSD-3-Clause
// DigestComparison: matches the digests that two trainings reported, by step and scope, and names the first
// tensor that differs. verifier.cpp feeds it. Digests of scopes that the first training did not report are
// ignored, because a newer worker reports more. Read digest_comparison.hpp first.
#include "runner/digest_comparison.hpp"

#include <algorithm>

namespace encore::runner {

namespace {

bool is_block(const std::string& scope) {
  return scope == "parameters" || scope.starts_with("optimizer/");
}

}  // namespace

DigestComparison::DigestComparison(const std::vector<store::DigestRow>& expected, std::int64_t begin,
                                   std::int64_t end) {
  for (const store::DigestRow& row : expected) {
    if (row.step < begin || row.step > end) continue;
    expected_[row.step][row.scope] = {row.value, row.attempt, false, std::nullopt};
    ++size_;
  }
}

void DigestComparison::take(const record::Digested& digest) {
  take(digest.step, digest.scope, digest.sha256);
  for (const auto& [path, value] : digest.tensors) take(digest.step, path, value);
}

void DigestComparison::take(std::int64_t step, const std::string& scope, const std::string& value) {
  const auto at = expected_.find(step);
  if (at == expected_.end()) return;
  const auto entry = at->second.find(scope);
  if (entry == at->second.end()) return;  // a newer worker may report more
  entry->second.told = true;
  if (value != entry->second.expected) entry->second.other = value;
}

std::optional<DigestDifference> DigestComparison::differing(std::int64_t number, const Step& step,
                                                            bool over) {
  DigestDifference difference{number, {}, 0, "", ""};
  for (const auto& [scope, entry] : step)
    if (entry.other || (over && !entry.told)) difference.scopes.push_back(scope);
  if (difference.scopes.empty()) return std::nullopt;
  std::stable_partition(difference.scopes.begin(), difference.scopes.end(),
                        [](const std::string& scope) { return !is_block(scope); });
  const Entry& first = step.at(difference.scopes.front());
  difference.attempt = first.attempt;
  difference.expected = first.expected;
  difference.found = first.other.value_or("");
  return difference;
}

std::optional<DigestDifference> DigestComparison::difference() const {
  for (const auto& [number, step] : expected_) {
    const bool whole =
        std::all_of(step.begin(), step.end(), [](const auto& entry) { return entry.second.told; });
    if (!whole) return std::nullopt;
    if (auto difference = differing(number, step, false)) return difference;
  }
  return std::nullopt;
}

std::optional<DigestDifference> DigestComparison::final_difference() const {
  for (const auto& [number, step] : expected_)
    if (auto difference = differing(number, step, true)) return difference;
  return std::nullopt;
}

std::size_t DigestComparison::agreeing() const {
  std::size_t count = 0;
  for (const auto& [number, step] : expected_)
    for (const auto& [scope, entry] : step) count += entry.told && !entry.other ? 1 : 0;
  return count;
}

}  // namespace encore::runner
