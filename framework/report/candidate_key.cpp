// SPDX-License-Identifier: BSD-3-Clause
// Makes a CandidateKey: finds the options in which candidates differ, and gives each candidate its letter.
// questions.cpp and `exp compare` call make_key(). Letters follow the order of the caller, so that a text and
// its tables agree. Read candidate_key.hpp first.
#include "report/candidate_key.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "report/wording.hpp"

namespace encore::report {

namespace {

/// The largest number of characters of a name in the legend of a picture; longer names leave no room for it.
constexpr std::size_t most_in_picture = 48;

/// A column of the key: an option with its value for each candidate.
struct Varied {
  std::string name;
  std::vector<std::string> values;

  bool varies() const {
    return std::any_of(values.begin(), values.end(),
                       [&](const std::string& value) { return value != values.front(); });
  }
};

/// Returns the column of a factor, if all runs of each candidate agree in it; else a column without values.
Varied column_of(const analysis::Factor& factor, const std::vector<analysis::Candidate>& candidates,
                 const std::map<std::int64_t, std::size_t>& places) {
  Varied column{factor.label, {}};
  for (const analysis::Candidate& candidate : candidates) {
    std::set<std::size_t> levels;
    for (const analysis::Replicate& replicate : candidate.runs)
      levels.insert(factor.level[places.at(replicate.run.number)]);
    if (levels.size() != 1) return {};
    column.values.push_back(analysis::level_text(factor.levels[*levels.begin()]));
  }
  return column;
}

bool tell_apart(const std::vector<Varied>& columns, std::size_t candidates) {
  std::set<std::vector<std::string>> seen;
  for (std::size_t i = 0; i < candidates; ++i) {
    std::vector<std::string> values;
    for (const Varied& column : columns) values.push_back(column.values[i]);
    if (!seen.insert(std::move(values)).second) return false;
  }
  return true;
}

std::vector<Varied> columns_of(const std::vector<analysis::Candidate>& candidates,
                               const std::vector<std::string>& names, const std::vector<store::RunRow>& runs,
                               const std::vector<analysis::Factor>& factors) {
  std::map<std::int64_t, std::size_t> places;
  for (std::size_t i = 0; i < runs.size(); ++i) places[runs[i].number] = i;
  std::vector<Varied> columns;
  for (const analysis::Factor& factor : factors)
    if (Varied column = column_of(factor, candidates, places); !column.values.empty() && column.varies())
      columns.push_back(std::move(column));
  Varied backends{"backend", {}}, seeds{"seed", {}};
  for (const analysis::Candidate& candidate : candidates) {
    backends.values.push_back(candidate.backend);
    seeds.values.push_back(candidate.runs.size() == 1 ? std::to_string(candidate.runs.front().run.seed) : "");
  }
  if (backends.varies()) columns.push_back(std::move(backends));
  if (!tell_apart(columns, candidates.size()) && seeds.varies()) columns.push_back(std::move(seeds));
  if (!tell_apart(columns, candidates.size())) columns.insert(columns.begin(), {"name", names});
  return columns;
}

}  // namespace

std::string letter_of(std::size_t number) {
  std::string text;
  for (std::size_t rest = number + 1; rest > 0; rest = (rest - 1) / 26)
    text.insert(text.begin(), static_cast<char>('A' + (rest - 1) % 26));
  return text;
}

std::string CandidateKey::summary(std::size_t candidate) const {
  std::string text;
  if (options.empty()) return text;
  for (const std::string& value : values[candidate]) text += (text.empty() ? "" : ", ") + value;
  return text;
}

std::string CandidateKey::introduced(std::size_t candidate) const {
  const std::string what = summary(candidate);
  return letters[candidate] + (what.empty() ? "" : " (" + what + ")");
}

std::string CandidateKey::legend(std::size_t candidate) const {
  const std::string what = summary(candidate);
  return letters[candidate] + (what.empty() || what.size() > most_in_picture ? "" : ": " + what);
}

CandidateKey make_key(const std::vector<analysis::Candidate>& candidates,
                      const std::vector<std::size_t>& order, const std::vector<std::string>& names,
                      const std::vector<store::RunRow>& runs, const std::vector<analysis::Factor>& factors,
                      std::size_t first) {
  CandidateKey key;
  key.values.resize(candidates.size());
  if (candidates.size() == 1) {
    key.letters = names;
    return key;
  }
  key.letters.resize(candidates.size());
  for (std::size_t i = 0; i < order.size(); ++i) key.letters[order[i]] = letter_of(first + i);
  for (Varied& column : columns_of(candidates, names, runs, factors)) {
    key.options.push_back(std::move(column.name));
    for (std::size_t i = 0; i < candidates.size(); ++i) key.values[i].push_back(std::move(column.values[i]));
  }
  return key;
}

}  // namespace encore::report
