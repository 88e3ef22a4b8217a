// SPDX-License-Identifier: BSD-3-Clause
// Collects, sorts, words and throws the problems of a configuration. Every message about an experiment file
// goes through here; cli/program.cpp prints what is thrown. The words may change, because only people read
// them; the order by place must stay. Read error.hpp first.
#include "config/error.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/limits.hpp"

namespace encore::config {

std::string Place::text() const {
  if (line == 0) return file;
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

std::string Problem::text() const {
  return place.known() ? place.text() + ": " + message : message;
}

namespace {

std::string lines(const std::vector<Problem>& problems) {
  constexpr std::size_t most_lines = 50;
  std::string text;
  const std::size_t shown = std::min(problems.size(), most_lines);
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : "\n") + problems[i].text();
  if (problems.size() == shown) return text;
  const bool counted = problems.size() < most_problems;
  return text + "\nand " + (counted ? "" : "at least ") + std::to_string(problems.size() - shown) + " more";
}

// Returns the problems in the order of the lines of each file; files keep the order in which they first
// appear.
std::vector<Problem> sorted(std::vector<Problem> problems) {
  std::map<std::string, std::size_t> rank;
  for (const Problem& problem : problems) rank.emplace(problem.place.file, rank.size());
  std::stable_sort(problems.begin(), problems.end(), [&](const Problem& a, const Problem& b) {
    return std::tuple(rank[a.place.file], a.place.line, a.place.column) <
           std::tuple(rank[b.place.file], b.place.line, b.place.column);
  });
  return problems;
}

}  // namespace

ConfigErrors::ConfigErrors(std::vector<Problem> problems)
    : Error(lines(problems)), problems_(std::move(problems)) {}

void Problems::add(Place place, std::string key, std::string message) {
  if (problems_.size() >= most_problems) return;
  const auto is_known = [&](const Problem& known) {
    return known.message == message && known.place.line == place.line && known.place.column == place.column &&
           known.place.file == place.file;
  };
  if (std::ranges::none_of(problems_, is_known))
    problems_.push_back({std::move(place), std::move(key), std::move(message)});
}

void Problems::add(const std::vector<Problem>& others) {
  for (const Problem& other : others) add(other.place, other.key, other.message);
}

void Problems::require_none() const {
  if (!problems_.empty()) throw ConfigErrors(sorted(problems_));
}

}  // namespace encore::config
