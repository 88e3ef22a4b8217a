#include "config/error.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace encore {

std::string Place::text() const {
  if (line == 0) return file;
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

std::string Problem::text() const {
  return place.known() ? place.text() + ": " + message : message;
}

namespace {

std::string lines(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) text += (text.empty() ? "" : "\n") + problem.text();
  return text;
}

// In the order of the file, as a reader goes through it; files in the order in which they first appear.
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
  Problem problem{std::move(place), std::move(key), std::move(message)};
  const std::string text = problem.text();
  for (const Problem& known : problems_)
    if (known.text() == text) return;
  problems_.push_back(std::move(problem));
}

void Problems::add(const std::vector<Problem>& others) {
  for (const Problem& other : others) add(other.place, other.key, other.message);
}

void Problems::require_none() const {
  if (!problems_.empty()) throw ConfigErrors(sorted(problems_));
}

}  // namespace encore
