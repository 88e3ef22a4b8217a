// Which runs are meant: by words (names, ids, patterns, sweeps), narrowed by state, tag, sweep and a
// condition in SQL, or the best of them. Place in the flow: every verb that takes runs asks here
// (app/run_selection.hpp), and reports do.
#pragma once

#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore {

struct RunSelection {
  /// Each the first that fits: "all"; a run's name or id; a sweep's name: its runs; a pattern with *, ? or
  /// []: runs whose names match; the beginning of names; the beginning of one id, or of one group. Empty:
  /// every run.
  std::vector<std::string> words = {};
  std::vector<RunState> states = {};     ///< any of them; empty: all
  std::vector<std::string> tags = {};    ///< all of them
  std::vector<std::string> sweeps = {};  ///< any of them; empty: all
  std::string where = {};                ///< see run_condition.hpp; empty: none
  std::string best = {};                 ///< "dev/f1", "min dev/loss": the best one alone; empty: all
  bool promoted = false;                 ///< in place of each run the one that stands for it (lineage.hpp)
  Sight sight = Sight::present;
  std::int64_t limit = -1;  ///< the newest so many; not together with `best`

  /// Whether it narrows down what the words mean, or all runs.
  bool narrows() const;
};

struct SelectedRuns {
  /// Each once, in the order of the words, within a word the oldest first.
  std::vector<RunRow> runs;
  /// How many were meant before states, tags, sweeps and the condition narrowed it down.
  std::size_t meant = 0;
  /// Each was named by a word of its own, not found by a pattern, a sweep or a condition.
  bool named = false;
  /// The sweep of which these are all runs, where one word names it and nothing narrows it down; else empty.
  std::string sweep = {};
};

/// Throws UnknownRun for a word that is neither a pattern nor the name of anything, Error for a measure that
/// none of the runs has, ConditionError.
SelectedRuns select_runs(Store& store, const RunSelection& selection);

/// "a, b, c, d, e and 7 more"
std::string names_text(const std::vector<RunRow>& runs, std::size_t most = 5);

}  // namespace encore
