// SPDX-License-Identifier: BSD-3-Clause
// NearestRun finds the run of a database with the most similar question. app/explain.cpp (`exp explain`)
// calls it and then shows field by field how a run differs from that run. The question of a run is its
// settings, data and seed (difference.hpp). Nothing is stored, so the measure of similarity may change.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/difference.hpp"
#include "store/store.hpp"

namespace encore::analysis {

class NearestRun {
 public:
  /// Reads the questions of all runs.
  explicit NearestRun(store::Store& store);

  /// Returns the number of the run that differs in the fewest fields, the newest among equals; skips those in
  /// `except`.
  std::optional<std::int64_t> find(const Facts& question, const std::set<std::int64_t>& except = {}) const;

 private:
  /// Field and value as numbers, sorted: comparing them equals comparing the strings, only faster.
  using Question = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

  static std::string key_of(const Field& field) { return field.section + '/' + field.key; }

  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::pair<std::int64_t, Question>> runs_;  // newest first
};

}  // namespace encore::analysis
