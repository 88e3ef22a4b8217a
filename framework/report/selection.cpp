// See selection.hpp.
#include "report/selection.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <set>

#include "config/nearest.hpp"

namespace encore {

namespace {

using Rows = std::vector<RunRow>;

Rows those(const Rows& all, const std::function<bool(const RunRow&)>& fits) {
  Rows rows;
  std::copy_if(all.begin(), all.end(), std::back_inserter(rows), fits);
  return rows;
}

/// Runs of one id or one group that begins so; fewer than four digits are no beginning anybody means.
Rows by_digits(const Rows& all, const std::string& word) {
  if (word.size() < 4 || word.find_first_not_of("0123456789abcdef") != std::string::npos) return {};
  Rows rows = those(all, [&](const RunRow& run) { return run.id.starts_with(word); });
  if (rows.empty()) rows = those(all, [&](const RunRow& run) { return run.group.starts_with(word); });
  std::set<std::string> ids, groups;
  for (const RunRow& run : rows) {
    ids.insert(run.id);
    groups.insert(run.group);
  }
  if (groups.size() > 1)
    throw UnknownRun("\"" + word + "\" begins the ids of " + std::to_string(ids.size()) +
                     " runs of several groups; give more digits, or a name");
  return rows;
}

Rows select(const Rows& all, const std::string& word) {
  Rows rows = those(all, [&](const RunRow& run) { return run.name == word || run.id == word; });
  if (rows.empty()) rows = those(all, [&](const RunRow& run) { return run.sweep == word; });
  if (rows.empty() && word.find_first_of("*?[") != std::string::npos)
    rows = those(all, [&](const RunRow& run) { return ::fnmatch(word.c_str(), run.name.c_str(), 0) == 0; });
  if (rows.empty() && !word.empty())
    rows = those(all, [&](const RunRow& run) { return run.name.starts_with(word); });
  return rows.empty() ? by_digits(all, word) : rows;
}

}  // namespace

std::vector<RunRow> select_runs(Store& store, const std::vector<std::string>& words) {
  Rows all = store.list_runs();
  std::reverse(all.begin(), all.end());
  Rows selected;
  std::set<std::int64_t> taken;
  for (const std::string& word : words) {
    const Rows rows = select(all, word);
    if (rows.empty()) {
      std::vector<std::string> names;
      for (const RunRow& run : all) {
        names.push_back(run.name);
        names.push_back(run.sweep);
      }
      throw UnknownRun("no run, sweep or group is called \"" + word + "\", and no name begins so, in " +
                       store.path().string() + did_you_mean(word, names, "; exp ls shows what there is"));
    }
    for (const RunRow& run : rows)
      if (taken.insert(run.number).second) selected.push_back(run);
  }
  return selected;
}

}  // namespace encore
