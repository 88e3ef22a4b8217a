// SPDX-License-Identifier: BSD-3-Clause
// Finds and removes garbage (`exp gc`, and after `exp rm`): compares the files of each run folder with the
// rows of the run, and removes what no row needs. When in doubt a file stays: a run that a process works on
// is skipped. Read garbage.hpp first.
#include "store/garbage.hpp"

#include <algorithm>
#include <set>
#include <system_error>

#include "base/json_text.hpp"
#include "record/checkpoint.hpp"
#include "record/run_paths.hpp"
#include "world/atomic_file.hpp"

namespace encore::store {

namespace {

namespace fs = std::filesystem;

constexpr auto quiet_time = std::chrono::hours(1);

std::uint64_t size_of_file(const fs::path& path) {
  std::error_code failure;
  const auto size = fs::file_size(path, failure);
  return failure ? 0 : size;
}

/// Returns whether the entry is a regular file. Symbolic links in run folders are not followed.
bool is_own_file(const fs::directory_entry& entry) {
  std::error_code failure;
  return fs::is_regular_file(entry.symlink_status(failure));
}

struct FolderState {
  std::uint64_t bytes = 0;
  fs::file_time_type newest = fs::file_time_type::min();
};

FolderState state_of(const fs::path& folder) {
  std::error_code failure;
  FolderState state{0, fs::last_write_time(folder, failure)};
  for (const auto& entry : fs::recursive_directory_iterator(folder, failure)) {
    if (is_own_file(entry)) state.bytes += size_of_file(entry.path());
    if (!entry.is_symlink(failure)) state.newest = std::max(state.newest, entry.last_write_time(failure));
  }
  return state;
}

/// Returns the steps whose checkpoints must stay: the newest valid one, damaged ones that are newer, those of
/// another kind than "best" and "last" ("manual"), and the best ones: that of the result, that of the latest
/// attempt that recorded one, and that in the progress of the newest valid checkpoint.
std::set<std::int64_t> steps_to_keep(Store& store, const RunRow& run, const fs::path& folder) {
  std::set<std::int64_t> keep;
  if (run.result.is_object()) keep.insert(run.result.value("best_step", std::int64_t{-1}));
  std::pair<int, std::int64_t> best{0, -1};
  for (const CheckpointRow& row : store.read_checkpoints(run.number)) {
    if (row.kind == "best") best = std::max(best, {row.attempt, row.step});
    if (row.kind != "best" && row.kind != "last") keep.insert(row.step);
  }
  keep.insert(best.second);
  const std::vector<record::CheckpointFile> files = record::list_checkpoints(folder);
  const auto outside = [&](const record::CheckpointFile& file) { return !keep.contains(file.step); };
  if (std::count_if(files.begin(), files.end(), outside) == 0) return keep;  // no need to hash them
  const std::optional<record::FoundCheckpoint> last = record::find_newest_checkpoint(folder);
  for (const record::CheckpointFile& file : files)
    if (!last || file.step >= last->file.step) keep.insert(file.step);
  if (!last) return keep;
  const auto progress = last->tensors.metadata().find("progress");
  if (progress == last->tensors.metadata().end()) return keep;
  const auto stored = json_or_null(progress->second);
  if (stored.is_object()) keep.insert(stored.value("best_step", std::int64_t{-1}));
  return keep;
}

std::vector<Garbage> garbage_of(Store& store, const RunRow& run) {
  std::vector<Garbage> found;
  const fs::path folder = store.run_folder(run.id);
  std::error_code failure;
  if (run.state == RunState::running || !record::is_own_folder(folder)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(folder, failure))
    if (is_own_file(entry) && entry.path().filename().string().ends_with(world::aside_suffix))
      found.push_back({GarbageKind::leftover, entry.path(), size_of_file(entry.path()), run.name});
  if (!record::is_own_folder((folder / record::checkpoint_path(0)).parent_path())) return found;
  const std::vector<record::CheckpointFile> files = record::list_checkpoints(folder);
  if (files.size() < 2) return found;
  const std::set<std::int64_t> keep = steps_to_keep(store, run, folder);
  for (const record::CheckpointFile& file : files)
    if (!keep.contains(file.step))
      found.push_back(
          {GarbageKind::checkpoint, folder / file.path, size_of_file(folder / file.path), run.name});
  return found;
}

std::vector<std::string> folders_of_runs(const Store& store) {
  std::vector<std::string> names;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(store.runs_folder(), failure))
    if (record::is_own_folder(entry.path()) && record::is_run_id(entry.path().filename().string()))
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// Finds folders that belong to no run. The caller listed `names` before it read the database, so a run that
/// was added in between already has its row.
std::vector<Garbage> folders_without_run(Store& store, const std::vector<std::string>& names) {
  std::vector<Garbage> found;
  for (const std::string& name : names) {
    Statement& known = store.database().cached("SELECT 1 FROM run WHERE id = ?");
    const bool is_known = known.with(name).step();
    known.reset();
    if (is_known) continue;
    const FolderState state = state_of(store.run_folder(name));
    if (fs::file_time_type::clock::now() - state.newest < quiet_time) continue;
    found.push_back({GarbageKind::folder, store.run_folder(name), state.bytes, name});
  }
  return found;
}

/// Finds the remains of killed commands beside the run folders: folders of `exp verify` that were not to be
/// kept, and unfinished copies of `exp db merge`.
std::vector<Garbage> folders_of_killed(const Store& store) {
  std::vector<Garbage> found;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(store.runs_folder(), failure)) {
    const std::string name = entry.path().filename().string();
    const bool verification = name.starts_with(verification_prefix);
    if (!record::is_own_folder(entry.path()) || !(verification || name.ends_with(world::aside_suffix)))
      continue;
    if (fs::exists(entry.path() / kept_mark, failure)) continue;
    const FolderState state = state_of(entry.path());
    if (fs::file_time_type::clock::now() - state.newest < quiet_time) continue;
    found.push_back(
        {verification ? GarbageKind::verification : GarbageKind::leftover, entry.path(), state.bytes, ""});
  }
  return found;
}

std::vector<Garbage> backups_begun(const Store& store) {
  std::vector<Garbage> found;
  std::error_code failure;
  const fs::path database = fs::absolute(store.path());
  const std::string begin = database.filename().string() + ".version-";
  for (const auto& entry : fs::directory_iterator(database.parent_path(), failure)) {
    const std::string name = entry.path().filename().string();
    const bool is_backup = name.starts_with(begin) && name.find(".backup") != std::string::npos;
    if (!is_backup || !name.ends_with(world::aside_suffix)) continue;  // "...backup.0123456789ab.part"
    if (fs::file_time_type::clock::now() - entry.last_write_time(failure) < quiet_time) continue;
    found.push_back({GarbageKind::leftover, entry.path(), size_of_file(entry.path()), ""});
  }
  return found;
}

void remove_all(const std::vector<Garbage>& found, std::vector<Garbage>& removed) {
  for (const Garbage& garbage : found) {
    std::error_code failure;
    fs::remove_all(garbage.path, failure);
    if (failure) throw Error(world::system_message("remove", garbage.path, failure.value()));
    removed.push_back(garbage);
  }
}

void append(std::vector<Garbage>& all, const std::vector<Garbage>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

const char* name_of(GarbageKind kind) {
  switch (kind) {
    case GarbageKind::checkpoint:
      return "checkpoint";
    case GarbageKind::leftover:
      return "leftover";
    case GarbageKind::folder:
      return "folder";
    case GarbageKind::verification:
      return "verification";
  }
  return "unknown";
}

std::vector<Garbage> find_garbage(Store& store, const std::vector<RunRow>& runs) {
  std::vector<Garbage> found;
  for (const RunRow& run : runs) append(found, garbage_of(store, run));
  return found;
}

std::vector<Garbage> find_garbage(Store& store) {
  const std::vector<std::string> folders = folders_of_runs(store);
  std::vector<Garbage> found = find_garbage(store, store.list_runs({.sight = Sight::any}));
  append(found, folders_without_run(store, folders));
  append(found, folders_of_killed(store));
  append(found, backups_begun(store));
  return found;
}

std::vector<Garbage> remove_garbage(Store& store, const std::vector<RunRow>& runs) {
  store.settle();  // now each "running" run really runs, and tokens of dead attempts are invalid
  std::vector<Garbage> removed;
  for (const RunRow& listed : runs) {
    if (garbage_of(store, listed).empty()) continue;
    // Checks again under the write lock, because an attempt may have begun since.
    Transaction transaction(store.database());
    Statement& state = store.database().cached("SELECT 1 FROM run WHERE number = ? AND state <> 'running'");
    const bool idle = state.with(listed.number).step();
    state.reset();
    if (idle) remove_all(garbage_of(store, store.read_run(listed.number)), removed);
  }
  return removed;
}

std::vector<Garbage> remove_garbage(Store& store, bool folders) {
  const std::vector<std::string> names = folders_of_runs(store);
  std::vector<Garbage> removed = remove_garbage(store, store.list_runs({.sight = Sight::any}));
  if (folders) remove_all(folders_without_run(store, names), removed);
  remove_all(folders_of_killed(store), removed);
  remove_all(backups_begun(store), removed);
  return removed;
}

}  // namespace encore::store
