// SPDX-License-Identifier: BSD-3-Clause
// Selects runs by words (names, ids, patterns, sweeps), narrows them by state, tag, sweep and a condition in
// SQL, or takes the best of them. Every verb that takes runs calls it (app/run_selection.hpp), and reports
// do.
#pragma once

#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore {

struct RunSelection {
  /// The words of the user. Each means the first that fits: "all"; a run's name or id; a sweep's name (its
  /// runs); a pattern with *, ? or [] (runs whose names match); the beginning of names; the beginning of one
  /// id, or of one group. Empty: every run.
  std::vector<std::string> words = {};
  std::vector<RunState> states = {};     ///< any of them; empty: all
  std::vector<std::string> tags = {};    ///< all of them
  std::vector<std::string> sweeps = {};  ///< any of them; empty: all
  std::string where = {};                ///< a condition of run_condition.hpp; empty: none
  std::string best = {};                 ///< "dev/f1", "min dev/loss": only the best run; empty: all
  bool promoted = false;                 ///< replaces each run by the one that stands for it (lineage.hpp)
  Sight sight = Sight::present;
  std::int64_t limit = -1;  ///< at most N newest runs; not together with `best`

  /// Returns whether it narrows the runs of the words, or all runs.
  bool narrows() const;
};

struct SelectedRuns {
  /// The runs, each once, in the order of the words; within a word the oldest first.
  std::vector<RunRow> runs;
  /// The number of runs before states, tags, sweeps and the condition narrowed them.
  std::size_t meant = 0;
  /// Set if each run was named by a word of its own, not found by a pattern, a sweep or a condition.
  bool named = false;
  /// The sweep of which these are all runs, if one word names it and nothing narrows it; else empty.
  std::string sweep = {};
};

/// Throws UnknownRun for a word that is neither a pattern nor a name, Error for a measure that none of the
/// runs has, and ConditionError.
SelectedRuns select_runs(Store& store, const RunSelection& selection);

/// Returns "a, b, c, d, e and 7 more".
std::string names_text(const std::vector<RunRow>& runs, std::size_t most = 5);

}  // namespace encore
