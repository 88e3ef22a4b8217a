// SPDX-License-Identifier: BSD-3-Clause
// select_runs() turns the words and options of a user (names, ids, patterns, sweeps; --state, --tag, --where,
// --best) into a list of runs. Every verb that takes runs calls it through app/run_selection.hpp; reports
// call it too. docs/guides/selecting_runs.md describes the rules for users; keep both equal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore::store {

struct RunSelection {
  /// What the user wrote. A word has the first of these meanings that fits: "all"; a run's name or id; a
  /// sweep's name (its runs); a pattern with *, ? or [] (runs whose names match); the beginning of names; the
  /// beginning of exactly one id or group. No words: every run.
  std::vector<std::string> words = {};
  std::vector<RunState> states = {};     ///< any of them; empty: all
  std::vector<std::string> tags = {};    ///< all of them
  std::vector<std::string> sweeps = {};  ///< any of them; empty: all
  std::string where = {};                ///< a condition of runs_where(); empty: none
  std::string best = {};                 ///< "dev/f1", "min dev/loss": only the best run; empty: all
  bool promoted = false;                 ///< replaces each run by the one that stands for it (lineage.hpp)
  Sight sight = Sight::present;
  std::int64_t limit = -1;  ///< at most N newest runs; not together with `best`

  /// Returns whether any option removes runs from those that the words mean.
  bool narrows() const;
};

struct SelectedRuns {
  /// The runs, each once, in the order of the words; the runs of one word oldest first.
  std::vector<RunRow> runs;
  /// The number of runs that the words mean, before the options.
  std::size_t meant = 0;
  /// Set if each run was named by a word of its own, not found by a pattern, a sweep or a condition.
  bool named = false;
  /// The name of the sweep if one word names it and no option applies, so that these are all of its runs;
  /// else empty.
  std::string sweep = {};
};

/// An error in a condition. Its message has a line with the condition and one that marks the place in it.
class ConditionError : public Error {
 public:
  using Error::Error;
};

/// Throws UnknownRun for a word that matches nothing and is not a pattern, Error for a measure that none of
/// the runs has, and ConditionError.
SelectedRuns select_runs(Store& store, const RunSelection& selection);

/// Returns "a, b, c, d, e and 7 more".
std::string names_text(const std::vector<RunRow>& runs, std::size_t most = 5);

/// Returns the row numbers of the runs for which the condition is true, including removed runs. The condition
/// is SQL with the names of run_columns.hpp: "model.dropout > 0.1 AND test/f1 >= 0.6". It runs on a
/// connection of its own that can only read, because the text may come from anywhere. Throws ConditionError.
/// select_runs() calls it. (run_condition.cpp)
std::vector<std::int64_t> runs_where(Store& store, const std::string& condition);

}  // namespace encore::store
