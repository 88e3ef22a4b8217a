// SPDX-License-Identifier: BSD-3-Clause
// merge_database(): for each run of the other database, compares its state on both sides, decides which one
// counts, and copies rows and folder in one transaction per run. Called by `exp db merge` and by bundles. The
// rules of comparing must not depend on the side or order of merging: two databases that merge each other end
// with the same runs. Read database_merge.hpp first.
#include "store/database_merge.hpp"

#include <algorithm>
#include <tuple>

#include "record/run_paths.hpp"
#include "store/merged_rows.hpp"
#include "store/run_folder_copy.hpp"
#include "store/step_budget.hpp"

namespace encore::store {

namespace {

/// Returns whether `one` has everything that `other` has of an attempt.
bool contains(const AttemptMark& one, const AttemptMark& other) {
  return one.origin == other.origin && one.records >= other.records && (one.over || !other.over);
}

bool contains(const RunMark& one, const RunMark& other) {
  if (one.attempts.size() < other.attempts.size()) return false;
  for (std::size_t index = 0; index < other.attempts.size(); ++index)
    if (!contains(one.attempts[index], other.attempts[index])) return false;
  return true;
}

/// Returns the key by which two states of a run are compared if neither contains the other; the larger key
/// counts.
auto progress_of(const RunMark& run) {
  std::int64_t records = 0;
  for (const AttemptMark& attempt : run.attempts) records += attempt.records;
  const AttemptMark last = run.attempts.empty() ? AttemptMark{} : run.attempts.back();
  return std::tuple(run.state == "completed", run.attempts.size(), records, last.started, last.origin);
}

class Merging {
 public:
  Merging(Store& store, const std::filesystem::path& other, const DatabaseMergeOptions& options)
      : store_(store),
        theirs_(other, OpenMode::read),
        rows_(store.path(), theirs_.database()),
        options_(options) {
    if (options.origin) rows_.set_origin(*options.origin);
    if (options.steps) budget_.emplace(rows_.database(), *options.steps);
    if (!options.durable) rows_.database().execute("PRAGMA synchronous = OFF");
  }

  DatabaseMerge run() {
    DatabaseMerge merge;
    std::vector<RunRow> runs = theirs_.list_runs({.sight = Sight::any});
    std::ranges::reverse(runs);  // oldest first, so that they keep their order
    if (options_.only)
      std::erase_if(runs, [&](const RunRow& run) { return !options_.only->runs.contains(run.id); });
    if (!options_.dry_run) rows_.map_shared_rows();
    for (const RunRow& run : runs) {
      merge.runs.push_back(take(run));
      if (options_.progress) options_.progress(merge.runs.size(), runs.size());
    }
    const std::set<std::string>* searches = options_.only ? &options_.only->searches : nullptr;
    if (!options_.only) merge.benches = rows_.count_benches();
    if (options_.dry_run) {
      merge.searches = rows_.merge_searches(true, searches);
      return merge;
    }
    Transaction transaction(rows_.database());
    merge.searches = rows_.merge_searches(false, searches);
    rows_.merge_sweep_runs(options_.only.has_value());
    if (!options_.only) rows_.add_benches();
    transaction.commit();
    return merge;
  }

 private:
  static MergedRun left_out(const RunRow& run, std::string remark, bool conflict = false) {
    return {.id = run.id,
            .name = run.name,
            .outcome = MergeOutcome::left_out,
            .conflict = conflict,
            .remark = std::move(remark)};
  }

  /// Merges one run. It decides again inside the transaction, because the run may have changed after the
  /// first decision.
  MergedRun take(const RunRow& theirs) {
    if (!record::is_run_id(theirs.id))
      return left_out(theirs, "invalid id: expected hexadecimal digits; the row was edited by hand");
    if (theirs.state == RunState::running) return left_out(theirs, "it is training there; merge again later");
    MergedRun planned = decide(theirs);
    if (options_.dry_run || planned.outcome == MergeOutcome::left_out) return planned;
    std::optional<RunFolderCopy> folder;
    if (options_.folders && planned.outcome != MergeOutcome::same && theirs.attempts > 0) {
      if (!record::is_own_folder(theirs_.run_folder(theirs.id)))
        return left_out(theirs, "its folder " + theirs_.run_folder(theirs.id).string() +
                                    " is missing; copy the folder " + theirs_.runs_folder().string() +
                                    " with the database");
      folder.emplace(theirs_.run_folder(theirs.id), store_.run_folder(theirs.id));
    }
    rows_.map_shared_rows();
    Transaction transaction(rows_.database());
    const MergedRun still = decide(theirs);
    if (still.outcome != planned.outcome) return left_out(theirs, "it changed meanwhile; merge again");
    planned.name = write(theirs, still);
    if (folder) folder->put_in_place();
    transaction.commit();
    return planned;
  }

  MergedRun decide(const RunRow& theirs) {
    const std::optional<RunMark> other = rows_.mark_of("other", theirs.id);
    if (!other) return left_out(theirs, "it was removed there meanwhile");
    if (!record::is_sound_run_name(theirs.name))
      return left_out(theirs, "its name holds control characters, begins with - or is empty", true);
    const std::optional<RunMark> here = rows_.mark_of("main", theirs.id);
    if (!here) return decide_new(theirs, *other);
    MergedRun merged{.id = theirs.id, .name = here->name};
    if (here->question != other->question)
      return left_out(theirs, "another run has its id here, " + here->name, true);
    if (contains(*here, *other)) return merged;
    if (store_.read_run(here->number).state == RunState::running)
      return left_out(theirs, "it is training here; merge again later");
    merged.outcome = MergeOutcome::updated;
    if (contains(*other, *here)) return merged;
    merged.conflict = true;
    const bool take_theirs = progress_of(*other) > progress_of(*here);
    if (!take_theirs) merged.outcome = MergeOutcome::same;
    merged.remark = std::string("it was resumed on both sides; the state of ") +
                    (take_theirs ? "the other database" : "this database") + " is further and is kept";
    return merged;
  }

  MergedRun decide_new(const RunRow& theirs, const RunMark& other) {
    MergedRun merged{.id = theirs.id, .name = theirs.name, .outcome = MergeOutcome::added};
    merged.remark = rows_.other_bits(other.number);
    merged.conflict = !merged.remark.empty();
    if (const auto repeat = rows_.repeat_of(other.number); repeat && !merged.conflict)
      merged.remark = "same settings, data and seed as " + *repeat + "; both are kept, as repeats";
    return merged;
  }

  /// Writes the rows of the run. Returns the name that the run has in this database.
  std::string write(const RunRow& theirs, const MergedRun& merged) {
    const std::int64_t other = rows_.mark_of("other", theirs.id)->number;
    std::int64_t here = 0;
    if (merged.outcome == MergeOutcome::added) {
      here = rows_.add_run(other, theirs.name);
    } else {
      here = rows_.mark_of("main", theirs.id)->number;
      if (merged.outcome == MergeOutcome::updated) rows_.replace_run(other, here);
    }
    rows_.join_labels(other, here);
    return rows_.mark_of("main", theirs.id)->name;
  }

  Store& store_;
  Store theirs_;
  MergedRows rows_;
  std::optional<StepBudget> budget_;
  const DatabaseMergeOptions& options_;
};

}  // namespace

const char* name_of(MergeOutcome outcome) {
  switch (outcome) {
    case MergeOutcome::added:
      return "added";
    case MergeOutcome::updated:
      return "updated";
    case MergeOutcome::same:
      return "same";
    case MergeOutcome::left_out:
      break;
  }
  return "left out";
}

std::size_t DatabaseMerge::count(MergeOutcome outcome) const {
  return static_cast<std::size_t>(std::ranges::count(runs, outcome, &MergedRun::outcome));
}

std::size_t DatabaseMerge::conflicts() const {
  return static_cast<std::size_t>(std::ranges::count(runs, true, &MergedRun::conflict) +
                                  std::ranges::count(searches, true, &MergedSearch::conflict));
}

DatabaseMerge merge_database(Store& store, const std::filesystem::path& other,
                             const DatabaseMergeOptions& options) {
  std::error_code absent;
  if (std::filesystem::equivalent(store.path(), other, absent))
    throw Error(other.string() + " is the database itself; name another file");
  return Merging(store, other, options).run();
}

}  // namespace encore::store
