// SPDX-License-Identifier: BSD-3-Clause
// Makes a bundle for `exp bundle` (cli/bundle_verb.cpp), in this order: the runs, their rows, the list of
// files, the archive. Equal runs must give equal bytes. Read pack_bundle.hpp first.
#include "bundle/pack_bundle.hpp"

#include <algorithm>
#include <set>

#include "archive/scratch_folder.hpp"
#include "archive/tar.hpp"
#include "archive/zstd_file.hpp"
#include "base/sha256.hpp"
#include "bundle/settings_agreement.hpp"
#include "bundle/spool_agreement.hpp"
#include "store/database_merge.hpp"
#include "store/foreign_schema.hpp"
#include "store/source_rows.hpp"
#include "world/atomic_file.hpp"

namespace encore::bundle {

namespace {

namespace fs = std::filesystem;

class Packing {
 public:
  Packing(store::Store& store, const PackTask& task) : store_(store), task_(task), runs_(task.runs) {}

  PackedBundle pack(const fs::path& target) {
    add_parents();
    for (const store::RunRow& run : runs_)
      if (run.state == store::RunState::running)
        throw Error("run " + run.name + " is training; bundle it when it has ended");
    const fs::path database = scratch_.path() / archive::bundle_database;
    make_database(database);
    collect(database);
    packed_.index.subject = task_.subject;
    packed_.index.encore = task_.encore;
    packed_.index.licence = task_.licence;
    packed_.index.author = task_.author;
    store::Store own(database, store::OpenMode::read);
    write(target, ro_crate_text(own, packed_.index));
    return std::move(packed_);
  }

 private:
  /// Adds the runs whose weights a run needs: without them it cannot be trained again.
  void add_parents() {
    std::set<std::int64_t> there;
    for (const store::RunRow& run : runs_) there.insert(run.number);
    for (std::size_t at = 0; at < runs_.size(); ++at)
      for (const auto& [table, parent] : store_.read_parents(runs_[at])) {
        if (!parent.run || !there.insert(parent.run->number).second) continue;
        packed_.parents.push_back(parent.run->name);
        runs_.push_back(*parent.run);
      }
  }

  void make_database(const fs::path& database) const {
    store::DatabaseMergeOptions options;
    options.only.emplace();
    for (const store::RunRow& run : runs_) options.only->runs.insert(run.id);
    options.only->searches.insert(task_.searches.begin(), task_.searches.end());
    options.folders = false;
    store::Store own(database, store::OpenMode::create);
    const store::DatabaseMerge merged = store::merge_database(own, store_.path(), options);
    for (const store::MergedRun& run : merged.runs)
      if (run.outcome != store::MergeOutcome::added) throw Error("run " + run.name + ": " + run.remark);
    mark_origin(own.database());
    store::remove_unused_rows(own.database());
    std::string difference = difference_from_specifications(own);
    if (difference.empty())
      difference = compare_with_spools(own, scratch_.path(), [&](const std::string& id) {
                     return store_.run_folder(id);
                   }).difference;
    if (!difference.empty())
      throw Error(
          difference +
          "; a reader of the bundle would get the same message. Run exp db check to examine the record");
    if (!task_.report.empty()) world::save_file(scratch_.path() / archive::bundle_report, task_.report);
    // Makes one database file, as small as possible.
    const store::Unguarded unguarded(own.database());
    own.database().execute("VACUUM; PRAGMA journal_mode = DELETE");
  }

  std::string difference_from_specifications(store::Store& own) const {
    for (const store::RunRow& run : own.list_runs({.sight = store::Sight::any})) {
      if (run.attempts == 0 || !fs::exists(store_.run_folder(run.id) / "specification.json")) continue;
      const record::Specification specification = record::Specification::load(store_.run_folder(run.id));
      if (std::string text = difference_from_specification(own, run, specification); !text.empty())
        return text;
      claimed_question(run, specification, task_.catalogue);
    }
    return "";
  }

  /// Adds the row that names the bundle as the origin of its runs. Equal runs must give equal bytes, so the
  /// row has neither the name of the archive nor the present time.
  void mark_origin(store::Database& database) const {
    double newest = 0.0;
    for (const store::RunRow& run : runs_) newest = std::max(newest, run.finished.value_or(run.created));
    store::Transaction transaction(database);
    database.cached("INSERT INTO origin (kind, name, sha256, time) VALUES ('bundle', ?, '', ?)")
        .run(task_.subject, newest);
    const std::int64_t origin = database.last_row();
    for (const char* table : {"run", "verification"})
      database.cached("UPDATE " + std::string(table) + " SET origin = ? WHERE origin IS NULL").run(origin);
    transaction.commit();
  }

  void collect(const fs::path& database) {
    files_.push_back({archive::bundle_database, database});
    if (!task_.report.empty())
      files_.push_back({archive::bundle_report, scratch_.path() / archive::bundle_report});
    for (std::size_t at = 0; at < runs_.size(); ++at) add_run(runs_[at], at >= task_.runs.size());
    for (const fs::path& folder : task_.choice.sources) add(files_of_sources(folder));
    std::set<std::string> names;
    std::erase_if(files_, [&](const PackedFile& file) { return !names.insert(file.name).second; });
    std::ranges::sort(files_, {}, &PackedFile::name);
    for (const PackedFile& file : files_)
      packed_.index.files.push_back({file.name, fs::file_size(file.source), sha256_of_file(file.source)});
  }

  void add_run(const store::RunRow& run, bool is_parent) {
    if (run.state != store::RunState::completed) packed_.not_ended.push_back(run.name);
    add(files_of_run(store_, run, task_.choice, is_parent));
    if (store::hides_its_data(store_, run) && !task_.choice.hidden)
      packed_.hidden.push_back(run.name);
    else if (task_.choice.data)
      add(data_of_run(store_, run));
  }

  void add(const std::vector<PackedFile>& files) { files_.insert(files_.end(), files.begin(), files.end()); }

  void write(const fs::path& target, const std::string& metadata) {
    archive::ZstdWriter archive(target);
    archive.write(archive::tar_head({archive::bundle_root + archive::bundle_metadata, metadata.size()}));
    archive.write(metadata);
    archive.write(archive::tar_padding(metadata.size()));
    for (std::size_t at = 0; at < files_.size(); ++at) {
      write_file(archive, files_[at], packed_.index.files[at]);
      if (task_.progress) task_.progress(at + 1, files_.size());
    }
    archive.write(archive::tar_end());
    archive.finish();
  }

  /// Writes a listed file. Throws Error if its bytes are no longer those that were listed.
  void write_file(archive::ZstdWriter& archive, const PackedFile& file, const archive::BundleFile& listed) {
    archive.write(archive::tar_head({archive::bundle_root + listed.path, listed.bytes}));
    InputFile in(file.source);
    Sha256 hash;
    std::uint64_t bytes = 0;
    while (const std::size_t count = in.read(piece_.data(), piece_.size())) {
      const std::string_view piece(piece_.data(), count);
      hash.add(piece);
      archive.write(piece);
      bytes += count;
    }
    if (bytes != listed.bytes || hash.hex() != listed.sha256)
      throw Error(file.source.string() + " changed while it was packed; try again");
    archive.write(archive::tar_padding(bytes));
  }

  store::Store& store_;
  const PackTask& task_;
  std::vector<store::RunRow> runs_;  ///< runs of the task first, then those that they need
  archive::ScratchFolder scratch_;
  std::vector<PackedFile> files_;
  PackedBundle packed_;
  std::string piece_ = std::string(std::size_t{1} << 18, '\0');
};

}  // namespace

PackedBundle pack_bundle(store::Store& store, const PackTask& task, const fs::path& target) {
  return Packing(store, task).pack(target);
}

}  // namespace encore::bundle
