// SPDX-License-Identifier: BSD-3-Clause
// merge_database() copies the runs of another database into this one, with their folders: from a cluster to a
// laptop, for example. `exp db merge` and bundles call it. A run is identified by its id, an attempt by the
// time and process of its start, so nothing is merged twice. Any order and any repetition of merges give the
// same content, except for row numbers and names. Read next: merged_rows.hpp (rows), run_folder_copy.hpp
// (files).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/merged_rows.hpp"
#include "store/store.hpp"

namespace encore::store {

struct MergedRun {
  std::string id;
  std::string name;  ///< in this database
  MergeOutcome outcome = MergeOutcome::same;
  /// Set if the two states of the run, or two answers to its question (same settings and data), exclude each
  /// other; `remark` says how.
  bool conflict = false;
  std::string remark = {};  ///< a sentence for the user; empty: nothing to report
};

struct DatabaseMerge {
  std::vector<MergedRun> runs;  ///< in the order in which the other database has them
  std::vector<MergedSearch> searches;
  std::size_t benches = 0;  ///< measurements (exp bench) that were added
  std::size_t count(MergeOutcome outcome) const;
  std::size_t conflicts() const;
};

/// The runs and searches of a database that shall be merged.
struct DatabaseChoice {
  std::set<std::string> runs = {};      ///< ids
  std::set<std::string> searches = {};  ///< names
};

struct DatabaseMergeOptions {
  bool dry_run = false;  ///< reports what would be done, and writes nothing
  /// Takes only these runs and searches, and no measurements. Without a value everything is taken.
  std::optional<DatabaseChoice> only = {};
  /// The origin that all merged rows get. Without a value they keep their origins, because the merge is a
  /// copy.
  std::optional<OriginRow> origin = {};
  bool durable = true;  ///< false: need not survive a crash, after which it is made again
  /// The limit in steps of SQLite (step_budget.hpp), beyond which DatabaseError is thrown. No value: no
  /// limit.
  std::optional<std::uint64_t> steps = {};
  bool folders = true;  ///< also copy the runs' folders; false: rows alone, even if there are folders
  /// Called after each run.
  std::function<void(std::size_t done, std::size_t all)> progress = {};
};

/// Merges run by run. Of two states of one run, the one that contains the other counts. If neither does (the
/// run was resumed on both sides), the more advanced one counts: completed first, then by number of attempts,
/// number of records, and later start. The other state stays in the other database, and the run's remark says
/// so. Tags, notes and verifications of both are kept; a run is removed if both sides have removed it. If
/// both have answered a question with runs of their own, both are kept as repeats; complete runs get higher
/// repeat numbers than incomplete ones, so that `exp run` uses them. Skips a run on which a process works, on
/// either side, and a run whose folder is missing in the other database. If the process is killed, the same
/// call continues: each run is merged in one transaction, after its files. Throws Error if `other` is this
/// database, or cannot be opened (open_encore_database() lists why).
DatabaseMerge merge_database(Store& store, const std::filesystem::path& other,
                             const DatabaseMergeOptions& options = {});

}  // namespace encore::store
