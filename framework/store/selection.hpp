// SPDX-License-Identifier: BSD-3-Clause
// select_runs() turns the words and options of a user (names, ids, patterns, sweeps; --state, --tag, --where,
// --best) into a list of runs. Every verb that takes runs calls it through app/run_selection.hpp; reports
// call it too. docs/guides/selecting_runs.md describes the rules for users; keep both equal.
#pragma once

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
  std::string where = {};                ///< a condition of run_condition.hpp; empty: none
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

/// Throws UnknownRun for a word that matches nothing and is not a pattern, Error for a measure that none of
/// the runs has, and ConditionError.
SelectedRuns select_runs(Store& store, const RunSelection& selection);

/// Returns "a, b, c, d, e and 7 more".
std::string names_text(const std::vector<RunRow>& runs, std::size_t most = 5);

}  // namespace encore::store
