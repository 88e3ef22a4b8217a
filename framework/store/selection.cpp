// SPDX-License-Identifier: BSD-3-Clause
// select_runs(): finds the runs that the words of a user mean, narrows them condition by condition, and
// describes in words what was selected. app/run_selection.cpp calls it for every verb that takes runs. Users
// rely on the order in which a word is looked up (docs/guides/selecting_runs.md), so it must stay. Read
// selection.hpp first.
#include "store/selection.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/nearest.hpp"
#include "base/shell_word.hpp"
#include "store/lineage.hpp"
#include "store/rows.hpp"
#include "store/run_columns.hpp"
#include "store/run_score.hpp"

namespace encore::store {

namespace {

using Numbers = std::vector<std::int64_t>;

/// The runs that one word means, and how it named them.
struct Meaning {
  Numbers runs;        ///< the oldest first
  bool named = false;  ///< one run, named by its own name, its id or the first digits of its id
  bool sweep = false;  ///< the runs of a sweep, by its name
};

class Words {
 public:
  Words(Store& store, Sight sight) : store_(store), seen_(condition_of(sight)), sight_(sight) {}

  Meaning meaning_of(const std::string& word) {
    if (word.empty()) throw UnknownRun("a run's name is empty");
    // This check comes first: a run called "all", from an earlier version or another database, must not hide
    // all other runs.
    if (word == "all") return {numbers("?1 = 'all' AND " + seen_ + by_age, word), false};
    Numbers runs = numbers("(name = ?1 OR id = ?1) AND " + seen_ + " ORDER BY name = ?1 DESC LIMIT 1", word);
    if (!runs.empty()) return {runs, true};
    runs = numbers(in_sweeps("?1") + " AND " + seen_ + by_age, word);
    if (!runs.empty()) return {.runs = runs, .sweep = true};
    require_in_sight(word);
    if (!store_.find_sweeps(word).empty()) return {};
    if (word.find_first_of("*?[") != std::string::npos) return {matching(word), false};
    runs = numbers("instr(name, ?1) = 1 AND " + seen_ + by_age, word);
    if (!runs.empty()) return {runs, false};
    return by_digits(word);
  }

 private:
  static constexpr const char* by_age = " ORDER BY number";

  Numbers numbers(const std::string& condition, const std::string& word) {
    Statement& rows = store_.database().cached("SELECT number FROM run WHERE " + condition).with(word);
    Numbers found;
    while (rows.step()) found.push_back(rows.integer(0));
    rows.reset();
    return found;
  }

  Numbers matching(const std::string& pattern) {
    Statement& rows = store_.database().cached("SELECT number, name FROM run WHERE " + seen_ + by_age);
    Numbers found;
    while (rows.step())
      if (::fnmatch(pattern.c_str(), rows.text(1).c_str(), 0) == 0) found.push_back(rows.integer(0));
    rows.reset();
    return found;
  }

  /// Returns an SQL condition: the hexadecimal column begins with ?1. The upper bound appends g, the letter
  /// after f.
  static std::string begins(const std::string& column) {
    return column + " >= ?1 AND " + column + " < ?1 || 'g' AND ";
  }

  /// Finds the run whose id begins with the word, or the runs of the only group of which this is true. A
  /// group needs at least four digits.
  Meaning by_digits(const std::string& word) {
    if (word.find_first_not_of("0123456789abcdef") != std::string::npos) fail_unknown(word);
    Numbers runs = numbers(begins("id") + seen_ + by_age, word);
    if (runs.size() == 1) return {runs, true};
    if (runs.size() > 1) fail_ambiguous(word, runs);
    if (word.size() >= 4) runs = numbers(begins("group_id") + seen_ + by_age, word);
    if (runs.empty()) fail_unknown(word);
    std::set<std::string> groups;
    for (const std::int64_t run : runs) groups.insert(store_.read_run(run).group);
    if (groups.size() > 1)
      throw UnknownRun("\"" + word + "\" begins the ids of " + std::to_string(groups.size()) +
                       " groups; give more digits, or a name");
    return {runs, false};
  }

  /// Throws UnknownRun if a run of that name or id exists but the selection excludes it: removed, or not
  /// removed.
  void require_in_sight(const std::string& word) {
    Statement& row =
        store_.database().cached("SELECT name, removed IS NULL FROM run WHERE name = ?1 OR id = ?1");
    const bool hidden = row.with(word).step();
    const std::string name = row.text(0);
    const bool is_present = hidden && row.integer(1) != 0;
    row.reset();
    if (!hidden) return;
    if (is_present) throw UnknownRun("run " + name + " is not removed");
    throw UnknownRun("run " + name + " was removed; " + shell_command({"exp", "undelete", name}) +
                     " restores it");
  }

  [[noreturn]] void fail_ambiguous(const std::string& word, const Numbers& runs) {
    constexpr std::size_t most = 5;
    std::string list;
    for (std::size_t i = 0; i < std::min(runs.size(), most); ++i) {
      const RunRow run = store_.read_run(runs[runs.size() - 1 - i]);
      list += (i > 0 ? ", " : "") + run.id + " (" + run.name + ")";
    }
    if (runs.size() > most) list += " and " + std::to_string(runs.size() - most) + " more";
    throw UnknownRun("\"" + word + "\" begins the ids of " + std::to_string(runs.size()) + " runs: " + list +
                     "; give more digits, or the name");
  }

  [[noreturn]] void fail_unknown(const std::string& word) {
    std::vector<std::string> names;
    Statement& rows = store_.database().cached(
        "SELECT * FROM (SELECT name FROM run WHERE " + seen_ +
        " ORDER BY number DESC LIMIT 10000) UNION ALL SELECT DISTINCT name FROM sweep");
    while (rows.step()) names.push_back(rows.text(0));
    rows.reset();
    const bool removed = sight_ == Sight::removed;
    throw UnknownRun(
        "there is no " + std::string(removed ? "removed " : "") + "run \"" + word +
        "\", and no sweep of that name, in " + store_.path().string() +
        did_you_mean(word, names,
                     removed ? "; exp ls --removed lists the removed runs" : "; exp ls lists the runs"));
  }

  Store& store_;
  std::string seen_;
  Sight sight_;
};

/// The metric and direction of --best. If the text gives no direction, it is that of the first run whose own
/// `select` names the metric, else that of the metric.
struct Best {
  std::string metric;
  bool lower = false;
};

Best best_of(Store& store, const std::vector<RunRow>& runs, const std::string& text) {
  for (const std::string word : {"max ", "min "})
    if (text.starts_with(word)) return {text.substr(4), word == "min "};
  for (const auto& [run, rule] : selection_rules(store, runs))
    if (rule.metric.name == text) return {text, rule.lower};
  const Metric metric = read_metrics(store.database(), runs).of(text);
  if (metric.is_known() && metric.meaning.better == Better::neither)
    throw Error("--best \"" + text + "\": neither high nor low values of it are better; write \"max " + text +
                "\" or \"min " + text + "\"");
  return {text, metric.lower_is_better()};
}

RunRow find_best(Store& store, const std::vector<RunRow>& runs, const std::string& text) {
  const Best best = best_of(store, runs, text);
  RunColumns columns(store);
  if (!columns.is_measure(best.metric))
    throw Error("--best \"" + text + "\": no run has a measure \"" + best.metric + "\"" +
                did_you_mean(best.metric, columns.measures()));
  const auto values = columns.values(runs, best.metric);
  const RunRow* found = nullptr;
  double highest = 0.0;
  for (const RunRow& run : runs) {
    const auto value = values.find(run.number);
    if (value == values.end() || !value->second.is_number()) continue;
    const double number = best.lower ? -value->second.get<double>() : value->second.get<double>();
    if (found != nullptr && number <= highest) continue;
    found = &run;
    highest = number;
  }
  if (found == nullptr)
    throw Error("--best \"" + text + "\": none of the " + std::to_string(runs.size()) +
                (runs.size() == 1 ? " run has" : " runs has") + " a value of " + best.metric + " yet");
  return *found;
}

}  // namespace

bool RunSelection::narrows() const {
  return !states.empty() || !tags.empty() || !sweeps.empty() || !where.empty() || !best.empty();
}

SelectedRuns select_runs(Store& store, const RunSelection& selection) {
  RunFilter filter{.states = selection.states,
                   .tags = selection.tags,
                   .sweeps = selection.sweeps,
                   .sight = selection.sight};
  if (selection.best.empty()) filter.limit = selection.limit;
  SelectedRuns selected;
  std::map<std::int64_t, std::size_t> place;  // position of each run in the list
  if (!selection.words.empty()) {
    Words words(store, selection.sight);
    selected.named = true;
    for (const std::string& word : selection.words) {
      const Meaning meaning = words.meaning_of(word);
      selected.named = selected.named && meaning.named;
      if (meaning.sweep && selection.words.size() == 1 && !selection.narrows()) selected.sweep = word;
      for (const std::int64_t run : meaning.runs) place.try_emplace(run, place.size());
    }
    selected.meant = place.size();
    filter.numbers.emplace();
    for (const auto& [run, at] : place) filter.numbers->push_back(run);
  }
  if (!selection.where.empty()) {
    Numbers fitting = runs_where(store, selection.where);
    if (filter.numbers) std::erase_if(fitting, [&](std::int64_t run) { return !place.contains(run); });
    filter.numbers = std::move(fitting);
  }
  selected.runs = store.list_runs(filter);
  std::reverse(selected.runs.begin(), selected.runs.end());
  if (!place.empty())
    std::sort(selected.runs.begin(), selected.runs.end(),
              [&](const RunRow& a, const RunRow& b) { return place.at(a.number) < place.at(b.number); });
  if (selection.promoted) selected.runs = promoted_of(store, selected.runs);
  if (!selection.best.empty() && !selected.runs.empty())
    selected.runs = {find_best(store, selected.runs, selection.best)};
  return selected;
}

std::string names_text(const std::vector<RunRow>& runs, std::size_t most) {
  const std::size_t shown = std::min(runs.size(), most);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? ", " : "") + runs[i].name;
  return shown < runs.size() ? text + " and " + std::to_string(runs.size() - shown) + " more" : text;
}

RunRow Store::find_run(const std::string& name_or_id, Sight sight) {
  const std::vector<RunRow> runs = select_runs(*this, {.words = {name_or_id}, .sight = sight}).runs;
  if (runs.empty()) throw UnknownRun("\"" + name_or_id + "\" matches no run in " + path_.string());
  if (runs.size() > 1)
    throw UnknownRun("\"" + name_or_id + "\" matches " + std::to_string(runs.size()) +
                     " runs: " + names_text(runs) + "; name one of them");
  return runs.front();
}

}  // namespace encore::store
