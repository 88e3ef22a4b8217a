// SPDX-License-Identifier: BSD-3-Clause
// MergedRows copies rows of another database of the same schema into this one by SQL, table by table. Numbers
// that refer to rows (hosts, metrics, attempts) are replaced by the numbers of the same rows here.
// database_merge.cpp decides which runs to take and calls this class. A new column of a table may need a
// change in merged_rows.cpp, whose head says when.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.hpp"
#include "store/run_rows.hpp"

namespace encore::store {

/// The state of an attempt on one side.
struct AttemptMark {
  std::string origin;        ///< start time, host and process; the attempts are the same if it is equal
  bool over = false;         ///< the end of the attempt was recorded
  std::int64_t records = 0;  ///< number of merged records of its spool
  double started = 0.0;
};

/// A run on one side.
struct RunMark {
  std::int64_t number = 0;
  std::string name;
  std::string state;
  std::string question;               ///< the question (identity of settings and data), with the backend
  std::vector<AttemptMark> attempts;  ///< by rising ordinal
};

enum class MergeOutcome : std::uint8_t {
  added,    ///< was not here
  updated,  ///< was here, and the other database knows more of it
  same,     ///< only tags, notes and verifications to merge
  left_out  ///< not merged; a remark says why
};
const char* name_of(MergeOutcome outcome);

struct MergedSearch {
  std::string name;  ///< in this database
  MergeOutcome outcome = MergeOutcome::same;
  bool conflict = false;  ///< both sides continued on their own; the longer list of decisions counts
};

class MergedRows {
 public:
  /// Opens the file `database` once more and attaches `other`, an open database, as "other", for reading.
  MergedRows(const std::filesystem::path& database, const Database& other);

  Database& database() { return database_; }
  /// Sets the origin of all copied rows. Without it they keep the origin that they have in the other
  /// database.
  void set_origin(const OriginRow& origin) { origin_ = origin; }
  /// Returns the state of a run in `schema`, which is "main" (here) or "other". Returns nothing if it has no
  /// such run.
  std::optional<RunMark> mark_of(const std::string& schema, const std::string& id);
  /// Returns the name of a run here that answers the same question as run `theirs` of the other database.
  std::optional<std::string> repeat_of(std::int64_t theirs);
  /// Returns a sentence if both databases have a complete run of this question in the same environment, but
  /// with different digests; else "".
  std::string other_bits(std::int64_t theirs);

  /// Maps hosts, builds, metrics and other shared rows to the numbers that they have here. Call it before a
  /// transaction that copies rows. It returns at once if nothing has changed.
  void map_shared_rows();

  // Inside a transaction of database():
  /// Adds a run that is not here, under a free name, as a new repeat if its question is here. Returns its row
  /// number.
  std::int64_t add_run(std::int64_t theirs, const std::string& name);
  /// Replaces settings, state and attempts of run `ours` by those of run `theirs`.
  void replace_run(std::int64_t theirs, std::int64_t ours);
  /// Joins tags, notes and verifications; the run stays removed only if both sides have removed it.
  void join_labels(std::int64_t theirs, std::int64_t ours);
  /// Adds measurements of exp bench that are not here. Returns their number.
  std::size_t add_benches();

  /// Merges searches. Call it after all runs, since trials refer to runs. `only`: the names of the searches
  /// to merge; null: all.
  std::vector<MergedSearch> merge_searches(bool dry_run, const std::set<std::string>* only = nullptr);

  /// Adds the merged runs to the sweeps that contain them there. Call it after all runs. `whole`: only to
  /// sweeps that exist here or all of whose runs do, so that a part of the runs brings no experiment file of
  /// other runs.
  void merge_sweep_runs(bool whole);

  std::size_t count_benches();

 private:
  /// Maps the row numbers of runs in the other database to those here.
  void map_runs();
  void compare_searches(std::int64_t theirs, std::int64_t ours, MergedSearch& merged);
  void write_search(std::int64_t theirs, std::int64_t ours, MergedSearch& merged);
  /// Copies the sweep whose number there is `number` (SQL), unless an equal one is here.
  void copy_sweep(const std::string& number);
  /// Returns SQL: the number here of t.sweep.
  static std::string sweep_here();
  /// Returns SQL: the number here of the row to which column `column` of row t refers.
  static std::string mapped(const std::string& table, const std::string& column);
  /// Returns SQL: the origin that row t of a run or verification gets here.
  std::string origin_here();
  /// Returns `wanted`, or `wanted` with the first free suffix -2, -3 ... if the table has that name already.
  std::string free_name(const std::string& table, const std::string& wanted);
  void copy_content(std::int64_t theirs, std::int64_t ours);
  /// Copies the rows `t` of a table of the other database. `instead`: SQL for columns that are not copied as
  /// they are.
  void copy_rows(const std::string& table, const std::map<std::string, std::string>& instead,
                 const std::string& where);

  Database database_;
  std::optional<OriginRow> origin_;
  std::int64_t mapped_version_ = -1;
};

}  // namespace encore::store
