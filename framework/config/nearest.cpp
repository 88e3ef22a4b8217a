#include "config/nearest.hpp"

#include <algorithm>
#include <cctype>

namespace encore {

namespace {
char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}
}  // namespace

// Optimal string alignment (Damerau 1964, restricted): three rows of the usual table, since a swap looks two
// rows back.
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

std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& names) {
  std::optional<std::string> best;
  int least = 0;
  for (const std::string& candidate : names) {
    const int distance = edit_distance(name, candidate);
    const int allowed = std::max(1, static_cast<int>(std::max(name.size(), candidate.size())) / 3);
    if (distance > allowed || (best && distance >= least)) continue;
    best = candidate;
    least = distance;
  }
  return best;
}

namespace {

// "decay" for "weight_decay", "training" for "train": one within the other. "dropuot" for
// "attention_dropout": one of the words of a name, a slip of one letter allowed.
std::optional<std::string> nearest_word(std::string_view name, const std::vector<std::string>& names) {
  constexpr std::size_t shortest_word = 4;  // below it a word fits too much by chance
  if (name.size() < shortest_word) return std::nullopt;
  for (const std::string& candidate : names)
    if (candidate.find(name) != std::string::npos ||
        (candidate.size() >= shortest_word && name.find(candidate) != std::string_view::npos))
      return candidate;
  for (const std::string& candidate : names)
    for (std::size_t begin = 0; begin < candidate.size();) {
      const std::size_t end = std::min(candidate.find_first_of("_.", begin), candidate.size());
      if (edit_distance(name, std::string_view(candidate).substr(begin, end - begin)) <= 1) return candidate;
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
