// SPDX-License-Identifier: BSD-3-Clause
// Lists the checkpoints, logs, predictions and data of each run that a bundle takes, as the options of the
// bundle allow. pack_bundle.cpp calls it. Private data must not enter a bundle unless the user asks for it.
// Read packed_files.hpp first.
#include "bundle/packed_files.hpp"

#include <algorithm>
#include <set>

#include "archive/bundle_index.hpp"
#include "bundle/found_data.hpp"
#include "data/vocabulary.hpp"
#include "pretrained/content_hash.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "record/run_paths.hpp"
#include "record/spool.hpp"
#include "record/weights_file.hpp"

namespace encore::bundle {

namespace {

namespace fs = std::filesystem;

/// Collects the files of a run's folder, each once, under their names in the bundle.
class RunFiles {
 public:
  RunFiles(store::Store& store, const store::RunRow& run)
      : folder_(store.run_folder(run.id)), prefix_(archive::bundle_runs + run.id + "/") {}

  bool add(const std::string& name) {
    const fs::path path = record::path_below(folder_, name);
    std::error_code failure;
    if (!fs::is_regular_file(fs::symlink_status(path, failure))) return false;
    if (names_.insert(name).second) files_.push_back({prefix_ + name, path});
    return true;
  }
  const fs::path& folder() const { return folder_; }
  std::vector<PackedFile> take() { return std::move(files_); }

 private:
  fs::path folder_;
  std::string prefix_;
  std::set<std::string> names_;
  std::vector<PackedFile> files_;
};

std::string log_name(int ordinal) {
  return fs::path(record::spool_name(ordinal)).replace_extension(".log").string();
}

void add_weights(store::Store& store, const store::RunRow& run, PackedWeights wanted, RunFiles& files) {
  if (wanted == PackedWeights::none) return;
  const std::vector<store::CheckpointRow> checkpoints = store.read_checkpoints(run.number);
  const bool alone = files.add(record::weights_file);
  const auto newest_best =
      std::find_if(checkpoints.rbegin(), checkpoints.rend(),
                   [](const store::CheckpointRow& row) { return row.on_disk && row.kind == "best"; });
  if (!alone && newest_best != checkpoints.rend()) files.add(newest_best->path);
  if (wanted == PackedWeights::all)
    for (const store::CheckpointRow& checkpoint : checkpoints) files.add(checkpoint.path);
}

}  // namespace

std::vector<PackedFile> files_of_run(store::Store& store, const store::RunRow& run, const PackChoice& choice,
                                     bool is_parent) {
  RunFiles files(store, run);
  if (run.attempts == 0) return {};
  if (!files.add("specification.json"))
    throw Error("run " + run.name + " has no specification in " + files.folder().string() +
                "; a bundle needs the folders of its runs beside the database");
  for (const store::AttemptRow& attempt : store.read_attempts(run.number)) {
    files.add(record::spool_name(attempt.ordinal));
    files.add(log_name(attempt.ordinal));
  }
  const bool hidden = store::hides_its_data(store, run) && !choice.hidden;
  // Tokens and names of classes come from the data, so they are left out if the data is private.
  if (!hidden)
    for (const char* name : {"vocab.txt", "labels.txt", "max_length.txt"}) files.add(name);
  for (const store::ArtifactRow& artifact : store.read_artifacts(run.number))
    if (artifact.path != record::weights_file && !hidden) files.add(artifact.path);
  // The weights of a parent are data of its children.
  add_weights(store, run,
              is_parent && choice.weights == PackedWeights::none ? PackedWeights::best : choice.weights,
              files);
  return files.take();
}

std::vector<PackedFile> data_of_run(store::Store& store, const store::RunRow& run) {
  std::vector<PackedFile> files;
  if (run.attempts == 0) return files;
  for (const auto& [role, file] : record::Specification::load(store.run_folder(run.id)).data) {
    const fs::path path = file.path;
    std::error_code missing;
    if (!record::run_of_folder(path.parent_path()).empty())
      continue;  // a parent's weights, packed with the parent
    if (!fs::exists(path, missing))
      throw Error(file.path + " (" + role + " of run " + run.name +
                  ") is missing; without --data "
                  "the bundle only records its SHA-256");
    if (pretrained::sha256_of_bytes_of_content(path) != file.sha256)
      throw Error(file.path + " (" + role + " of run " + run.name +
                  ") has changed since the run was planned; "
                  "without --data the bundle only records its SHA-256");
    const std::string folder = archive::bundle_data + file.sha256 + "/";
    if (fs::is_directory(path)) {
      for (const std::string& name : pretrained::files_of_hugging_face_folder(path))
        files.push_back({folder + name, path / name});
      continue;
    }
    files.push_back({folder + packed_data_name(file.path), path});
    for (const std::string& name : data::files_beside_vocabulary(path))
      if (pretrained::is_there(path.parent_path() / name))
        files.push_back({folder + name, path.parent_path() / name});
  }
  return files;
}

std::vector<PackedFile> files_of_sources(const fs::path& folder) {
  const fs::path top = fs::absolute(folder).lexically_normal();
  const std::string name = (top.has_filename() ? top : top.parent_path()).filename().string();
  std::vector<PackedFile> files;
  std::error_code failure;
  for (auto entry = fs::recursive_directory_iterator(top, failure);
       entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
    const std::string own = entry->path().filename().string();
    const bool is_folder = fs::is_directory(entry->symlink_status());
    if (own.starts_with('.') || (is_folder && own == "build")) {
      if (is_folder) entry.disable_recursion_pending();
      continue;
    }
    if (fs::is_regular_file(entry->symlink_status()))
      files.push_back(
          {archive::bundle_sources + name + "/" + fs::relative(entry->path(), top).string(), entry->path()});
  }
  if (failure || files.empty())
    throw Error("invalid --sources " + folder.string() + ": expected a folder with files" +
                (failure ? ": " + failure.message() : std::string()));
  std::ranges::sort(files, {}, &PackedFile::name);
  return files;
}

}  // namespace encore::bundle
