// SPDX-License-Identifier: BSD-3-Clause
// Finds, checks and removes checkpoint files in a run folder. The trainer saves and resumes with them;
// runner/prepare_work.cpp chooses one before a worker starts. A file counts only if its SHA-256 is the one in
// the spool, or, if none was recorded, its structure is sound. Read checkpoint.hpp first.
#include "record/checkpoint.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <system_error>
#include <utility>

#include <encore/error.hpp>

#include "record/run_paths.hpp"
#include "record/spool_reader.hpp"
#include "world/atomic_file.hpp"

namespace encore::record {

namespace {

constexpr std::string_view folder_name = "checkpoints";
constexpr std::string_view name_begin = "step-";
constexpr std::string_view name_end = ".safetensors";

std::optional<std::int64_t> step_of(std::string_view file_name) {
  if (!file_name.starts_with(name_begin) || !file_name.ends_with(name_end)) return std::nullopt;
  file_name.remove_prefix(name_begin.size());
  file_name.remove_suffix(name_end.size());
  std::int64_t step = -1;
  const char* const end = file_name.data() + file_name.size();
  const auto [stop, failure] = std::from_chars(file_name.data(), end, step);
  return failure == std::errc() && stop == end && step >= 0 ? std::optional(step) : std::nullopt;
}

/// Returns the names in a folder; none if there is no such folder.
std::vector<std::string> list_folder(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code failure;
  for (std::filesystem::directory_iterator file(folder, failure), end; !failure && file != end;
       file.increment(failure)) {
    names.push_back(file->path().filename().string());
  }
  if (failure && failure != std::errc::no_such_file_or_directory) {
    throw Error(world::system_message("read the folder", folder, failure.value()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Safetensors load_checked(const std::filesystem::path& run_folder, const CheckpointFile& file,
                         const std::map<std::string, std::string>& recorded) {
  Safetensors tensors(run_folder / file.path);
  if (const auto known = recorded.find(file.path);
      known != recorded.end() && tensors.sha256() != known->second) {
    throw Error((run_folder / file.path).string() +
                ": its SHA-256 is not the one that was recorded when it was written");
  }
  return tensors;
}

}  // namespace

std::string checkpoint_path(std::int64_t step) {
  char name[64];
  std::snprintf(name, sizeof name, "checkpoints/step-%08lld.safetensors", static_cast<long long>(step));
  return name;
}

std::vector<CheckpointFile> list_checkpoints(const std::filesystem::path& run_folder) {
  std::vector<CheckpointFile> files;
  for (const std::string& name : list_folder(run_folder / folder_name)) {
    if (const auto step = step_of(name)) files.push_back({*step, std::string(folder_name) + "/" + name});
  }
  std::sort(files.begin(), files.end(),
            [](const auto& left, const auto& right) { return left.step < right.step; });
  return files;
}

SavedFile save_checkpoint(const std::filesystem::path& run_folder, std::int64_t step,
                          const std::vector<TensorSlice>& tensors, const TensorMetadata& metadata,
                          const std::function<void()>& before_rename) {
  const std::filesystem::path folder = run_folder / folder_name;
  std::error_code failure;
  std::filesystem::create_directory(folder, failure);  // not the run's folder, which a user may have removed
  if (failure) throw Error(world::system_message("make the folder", folder, failure.value()));
  return save_safetensors(run_folder / checkpoint_path(step), tensors, metadata, before_rename);
}

std::map<std::string, std::string> recorded_checkpoints(const std::filesystem::path& run_folder) {
  std::map<std::string, std::string> recorded;
  for (const std::string& name : list_folder(run_folder)) {  // sorted: later attempts come later
    if (!name.starts_with("attempt-") || !name.ends_with(".spool")) continue;
    SpoolReader reader(run_folder / name, {run_of_folder(run_folder), 0});
    SpoolRecord record;
    while (reader.next(record) || (reader.skip_damage() && reader.next(record))) {
      if (record.kind != SpoolKind::event || record.text.find(Saved::type) == std::string::npos) continue;
      if (const auto event = record.event().event)
        handle(*event, [&](const Saved& saved) { recorded[saved.path] = saved.sha256; });
    }
  }
  return recorded;
}

std::optional<FoundCheckpoint> find_newest_checkpoint(
    const std::filesystem::path& run_folder, std::vector<DamagedCheckpoint>* damaged,
    const std::function<void(const Safetensors&)>& acceptable) {
  const std::vector<CheckpointFile> files = list_checkpoints(run_folder);
  if (files.empty()) return std::nullopt;
  const std::map<std::string, std::string> recorded = recorded_checkpoints(run_folder);
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    try {
      Safetensors tensors = load_checked(run_folder, *file, recorded);
      if (acceptable) acceptable(tensors);
      return FoundCheckpoint{*file, std::move(tensors)};
    } catch (const Error& error) {
      if (damaged) damaged->push_back({*file, error.what()});
    }
  }
  return std::nullopt;
}

Safetensors load_checkpoint(const std::filesystem::path& run_folder, std::int64_t step) {
  return load_checked(run_folder, {step, checkpoint_path(step)}, recorded_checkpoints(run_folder));
}

std::string tuned_in(const Safetensors& file) {
  const auto tuned = file.metadata().find(tuned_key);
  return tuned == file.metadata().end() ? "" : tuned->second;
}

void require_checkpoint_of(const Safetensors& file, const std::string& question) {
  if (file.text("format") != checkpoint_format)
    throw Error("it is not a checkpoint of this version of Encore");
  if (file.text("question") != question)
    throw Error("it belongs to another experiment (question " + file.text("question") + ")");
}

std::vector<std::int64_t> prune_checkpoints(const std::filesystem::path& run_folder,
                                            const std::set<std::int64_t>& keep) {
  std::vector<std::int64_t> removed;
  const std::filesystem::path folder = run_folder / folder_name;
  for (const std::string& name : list_folder(folder)) {
    const std::optional<std::int64_t> step = step_of(name);
    const bool leftover = name.starts_with(name_begin) && name.ends_with(world::aside_suffix);
    if (!leftover && (!step || keep.contains(*step))) continue;
    std::error_code failure;
    std::filesystem::remove(folder / name, failure);
    if (failure) throw Error(world::system_message("remove", folder / name, failure.value()));
    if (step) removed.push_back(*step);
  }
  if (!removed.empty()) world::sync_folder(folder);
  return removed;
}

}  // namespace encore::record
