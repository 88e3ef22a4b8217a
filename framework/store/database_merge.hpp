// SPDX-License-Identifier: BSD-3-Clause
// Merges the runs of another database into this one, with their folders: from a cluster to a laptop, for
// example. A run is known by its id, an attempt by when and where it began, so the same run is never there
// twice. Merging the same databases in another order, or again, gives the same content (except for row
// numbers and names that were taken). The other database is not changed. `exp db merge` calls this. Read
// next: merged_rows.hpp, which copies rows, and run_folder_copy.hpp, which copies files.
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

namespace encore {

struct MergedRun {
  std::string id;
  std::string name;  ///< in this database
  MergeOutcome outcome = MergeOutcome::same;
  /// Set if two states of the run, or two answers to its question, exclude each other; `remark` says how.
  bool conflict = false;
  std::string remark = {};  ///< a note for the user about it; empty: none
};

struct DatabaseMerge {
  std::vector<MergedRun> runs;  ///< in the order in which the other database has them
  std::vector<MergedSearch> searches;
  std::size_t benches = 0;  ///< measurements (exp bench) that were added
  std::size_t count(MergeOutcome outcome) const;
  std::size_t conflicts() const;
};

/// A part of a database.
struct DatabaseChoice {
  std::set<std::string> runs = {};      ///< ids
  std::set<std::string> searches = {};  ///< names
};

struct DatabaseMergeOptions {
  bool dry_run = false;  ///< reports what would be done, and writes nothing
  /// Only these runs and searches are taken, without measurements; nothing: everything is taken.
  std::optional<DatabaseChoice> only = {};
  /// The origin of all rows that are taken. Nothing: this is a copy, in which rows keep their origins.
  std::optional<OriginRow> origin = {};
  bool durable = true;  ///< false: for a database that is made again after a crash
  /// The limit in steps of SQLite (step_budget.hpp), beyond which it throws DatabaseError; nothing: no limit.
  std::optional<std::uint64_t> steps = {};
  bool folders = true;  ///< also copy the runs' folders; false: rows alone, whether there are folders or not
  /// Is called after each run.
  std::function<void(std::size_t done, std::size_t all)> progress = {};
};

/// Merges run by run. Of two states of one run, the one that contains the other counts. If neither does (it
/// was resumed on both sides), the more advanced one counts: completed, then the number of attempts, of
/// records, then the later start; the other stays where it is, and the run's remark says so. Tags, notes and
/// verifications of both are kept; a run is removed if both sides have removed it. If both have answered a
/// question with runs of their own, both are kept as repeats; complete runs stay newer than others, so that
/// `exp run` takes them. A run on which a process works, on either side, is left out, and so is one whose
/// folder is missing in the other database. After a kill the same call continues: each run is taken over in
/// one transaction, after its files. Throws Error if `other` is this database, or cannot be opened
/// (open_encore_database() says what is refused).
DatabaseMerge merge_database(Store& store, const std::filesystem::path& other,
                             const DatabaseMergeOptions& options = {});

}  // namespace encore
