// SPDX-License-Identifier: BSD-3-Clause
// Finds similar names by edit distance, and words "did you mean" and lists of names for messages about
// unknown names. Only the words of messages depend on it, so the rules may change. Read next: nearest.hpp.
#include "base/nearest.hpp"

#include <algorithm>
#include <cctype>
#include <span>

namespace encore {

namespace {
char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}
}  // namespace

// Computes the optimal string alignment (Damerau 1964, restricted). Three rows of the usual table are enough,
// since a swap needs the row before the previous one.
int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool equal = lower(a[i - 1]) == lower(b[j - 1]);
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (equal ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

namespace {

/// The largest number of names that are searched, because each of many mistakes searches all of them.
constexpr std::size_t most_names = 10000;
constexpr std::size_t longest_name = 1000;

std::span<const std::string> searched(std::string_view name, const std::vector<std::string>& names) {
  if (name.size() > longest_name) return {};
  return {names.data(), std::min(names.size(), most_names)};
}

/// Returns false if the lengths differ by more than `distance`, because then the edit distance is larger too.
bool may_be_within(std::size_t distance, std::string_view a, std::string_view b) {
  return std::max(a.size(), b.size()) - std::min(a.size(), b.size()) <= distance;
}

}  // namespace

std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& names) {
  std::optional<std::string> best;
  int least = 0;
  for (const std::string& candidate : searched(name, names)) {
    const int allowed = std::max(1, static_cast<int>(std::max(name.size(), candidate.size())) / 3);
    if (!may_be_within(static_cast<std::size_t>(allowed), name, candidate)) continue;
    const int distance = edit_distance(name, candidate);
    if (distance > allowed || (best && distance >= least)) continue;
    best = candidate;
    least = distance;
  }
  return best;
}

namespace {

// Returns a name that contains `name` or is contained in it ("decay" for "weight_decay", "training" for
// "train"), or one with a similar word ("dropuot" for "attention_dropout": one letter may be wrong).
std::optional<std::string> nearest_word(std::string_view name, const std::vector<std::string>& names) {
  constexpr std::size_t shortest_word = 4;  // shorter words match too many names by chance
  if (name.size() < shortest_word) return std::nullopt;
  // Chooses the longest name within: "adamw_torch" contains both "adam" and "adamw", and means the second.
  const std::string* within = nullptr;
  for (const std::string& candidate : searched(name, names)) {
    if (candidate.find(name) != std::string::npos) return candidate;
    if (candidate.size() >= shortest_word && name.find(candidate) != std::string_view::npos &&
        (within == nullptr || candidate.size() > within->size()))
      within = &candidate;
  }
  if (within != nullptr) return *within;
  for (const std::string& candidate : searched(name, names))
    for (std::size_t begin = 0; begin < candidate.size();) {
      const std::size_t end = std::min(candidate.find_first_of("_.", begin), candidate.size());
      const std::string_view word = std::string_view(candidate).substr(begin, end - begin);
      if (may_be_within(1, name, word) && edit_distance(name, word) <= 1) return candidate;
      begin = end + 1;
    }
  return std::nullopt;
}

}  // namespace

std::string did_you_mean(std::string_view name, const std::vector<std::string>& names,
                         std::string otherwise) {
  std::optional<std::string> near = nearest(name, names);
  if (!near) near = nearest_word(name, names);
  return near ? "; did you mean \"" + *near + "\"?" : otherwise;
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "\"" : ", \"") + name + "\"";
  return text;
}

}  // namespace encore
