// MergedRows: rows of another database of the same schema, copied into this one by SQL, table by table. What
// one row refers to in another (numbers of hosts, metrics, attempts) becomes the number that it has here.
// Place in the flow: database_merge.cpp decides which run is taken; this takes it.
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

namespace encore {

/// What is known of an attempt on one side.
struct AttemptMark {
  std::string origin;        ///< when it began, on which host, as which process: the same is the same attempt
  bool over = false;         ///< its end was written
  std::int64_t records = 0;  ///< that its spool had been merged to
  double started = 0.0;
};

/// A run on one side.
struct RunMark {
  std::int64_t number = 0;
  std::string name;
  std::string state;
  std::string question;               ///< with the backend
  std::vector<AttemptMark> attempts;  ///< by rising ordinal
};

enum class MergeOutcome : std::uint8_t {
  added,    ///< was not here
  updated,  ///< was here, and the other database knows more of it
  same,     ///< nothing to do but tags, notes and verifications
  left_out  ///< a remark says why
};
const char* name_of(MergeOutcome outcome);

struct MergedSearch {
  std::string name;  ///< here
  MergeOutcome outcome = MergeOutcome::same;
  bool conflict = false;  ///< both went on by themselves; the one that has decided more counts
};

class MergedRows {
 public:
  /// Opens `database` once more and attaches `other`, an open one, as "other", for reading.
  MergedRows(const std::filesystem::path& database, const Database& other);

  Database& database() { return database_; }
  /// What is taken comes from there; without it rows keep the origin that they have in the other database.
  void set_origin(const OriginRow& origin) { origin_ = origin; }
  /// `schema`: "main" (here) or "other". Nothing where it has no such run.
  std::optional<RunMark> mark_of(const std::string& schema, const std::string& id);
  /// A run that is here and answers the question of one of theirs; its name.
  std::optional<std::string> repeat_of(std::int64_t theirs);
  /// A sentence where both have completed one question in one environment with different digests; else empty.
  std::string other_bits(std::int64_t theirs);

  /// Hosts, builds, metrics and what else runs refer to, and the numbers that they have here. To be called
  /// before a transaction in which rows are copied; costs nothing where it has nothing to do.
  void map_shared_rows();

  // Inside a transaction of database():
  /// A run that is not here, under a free name, as a new repeat where its question is here. Returns its
  /// number.
  std::int64_t add_run(std::int64_t theirs, const std::string& name);
  /// Settings, state and attempts of a run as the other database has them, in the place of those here.
  void replace_run(std::int64_t theirs, std::int64_t ours);
  /// Tags, notes, verifications, and whether it is out of sight.
  void join_labels(std::int64_t theirs, std::int64_t ours);
  /// Measurements of exp bench that are not here; their number.
  std::size_t add_benches();

  /// After all runs, since trials refer to them. `only`: those with one of these names; null: all.
  std::vector<MergedSearch> merge_searches(bool dry_run, const std::set<std::string>* only = nullptr);

  /// After all runs: those that belong to a sweep besides their own. `whole`: only of sweeps that are here,
  /// or all runs of which are, so that a part of the runs takes no experiment file of other runs with it.
  void merge_sweep_runs(bool whole);

  std::size_t count_benches();

 private:
  /// The numbers that runs of the other database have here.
  void map_runs();
  void compare_searches(std::int64_t theirs, std::int64_t ours, MergedSearch& merged);
  void write_search(std::int64_t theirs, std::int64_t ours, MergedSearch& merged);
  /// The sweep of that number there (SQL), unless it is here already.
  void copy_sweep(const std::string& number);
  /// SQL: the number here of t.sweep.
  static std::string sweep_here();
  /// SQL: the number here of what column `column` of row t refers to in the table.
  static std::string mapped(const std::string& table, const std::string& column);
  /// SQL: the origin that row t of a run or verification gets here.
  std::string origin_here();
  /// `wanted`, or with -2, -3 ... the first that the table does not have.
  std::string free_name(const std::string& table, const std::string& wanted);
  void copy_content(std::int64_t theirs, std::int64_t ours);
  /// Rows `t` of the other database; `instead`: SQL for columns that are not taken as they are.
  void copy_rows(const std::string& table, const std::map<std::string, std::string>& instead,
                 const std::string& where);

  Database database_;
  std::optional<OriginRow> origin_;
  std::int64_t mapped_version_ = -1;
};

}  // namespace encore
