// Brings the runs of another database into this one, with their folders: from a cluster to a laptop, say.
// A run is known by its id, an attempt by when and where it began, so the same run is never there twice, and
// merging the same databases in another order, or again, gives the same content (numbers of rows and names
// that were taken apart). Nothing of the other database is changed. `exp db merge` calls this. Read next:
// merged_rows.hpp, which copies rows, and run_folder_copy.hpp, which copies files.
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
  std::string name;  ///< here
  MergeOutcome outcome = MergeOutcome::same;
  /// Whether two states of the run, or two answers to its question, exclude each other; `remark` says how.
  bool conflict = false;
  std::string remark = {};  ///< what a user should know about it; empty: nothing
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
  bool dry_run = false;  ///< says what would be done, and writes nothing
  /// These alone, and no measurements; nothing: all that is there.
  std::optional<DatabaseChoice> only = {};
  /// What is taken comes from there. Nothing: a copy of the database, in which rows keep their origins.
  std::optional<OriginRow> origin = {};
  bool durable = true;  ///< false: for a database that is made again after a crash
  /// At most that many steps of SQLite (step_budget.hpp), then a DatabaseError; nothing: no limit.
  std::optional<std::uint64_t> steps = {};
  bool folders = true;  ///< those of the runs too; false: rows alone, whether there are folders or not
  /// Called after each run.
  std::function<void(std::size_t done, std::size_t all)> progress = {};
};

/// Of two states of one run the one that contains the other counts. Where neither does (it was resumed on
/// both sides), the one that is further counts: completed, then the number of attempts, of records, then the
/// later start; the other stays where it is, and the run's remark says so. Tags, notes and verifications of
/// both are kept; a run is out of sight where it is so in both. A question that both have answered with runs
/// of their own keeps both, as repeats; whatever is complete stays newer than what is not, so that `exp run`
/// takes it. A run on which a process works, here or there, is left out, and so is one whose folder is
/// missing there. Killed in between, the same call goes on: each run is taken over in one transaction, after
/// its files. Throws Error where `other` is this database, or cannot be opened (open_encore_database says
/// what is refused).
DatabaseMerge merge_database(Store& store, const std::filesystem::path& other,
                             const DatabaseMergeOptions& options = {});

}  // namespace encore
