// See check_bundle.hpp.
#include "bundle/check_bundle.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "archive/tar.hpp"
#include "bundle/spool_agreement.hpp"
#include "record/run_paths.hpp"
#include "store/database_merge.hpp"
#include "store/foreign_schema.hpp"
#include "store/upgrade.hpp"

namespace encore {

namespace {

namespace fs = std::filesystem;

class Checking {
 public:
  Checking(const UnpackedBundle& bundle, Store& store) : bundle_(bundle), store_(store) {
    for (const BundleFile& file : bundle.index().files) files_[file.path] = &file;
  }

  std::vector<std::string> check() {
    require_own_schema();
    if (const auto found = store_.database().text("PRAGMA quick_check(1)"); found != "ok")
      throw Error("its database is damaged: " + found.value_or("no answer"));
    runs_ = store_.list_runs({.sight = Sight::any});
    if (runs_.empty()) throw Error("its database has no run");
    std::set<std::string> folders;
    for (const RunRow& run : runs_) {
      folders.insert(require_run_id(run.id, "its database"));
      require_plain(run.name);
      check_run(run);
    }
    for (const auto& [path, file] : files_) {
      if (!path.starts_with(bundle_runs)) continue;
      const std::string id =
          path.substr(bundle_runs.size(), path.find('/', bundle_runs.size()) - bundle_runs.size());
      if (!folders.contains(id)) throw Error(path + " belongs to no run of its database");
    }
    SpoolAgreement agreement = compare_with_spools(
        store_, bundle_.folder(), [&](const std::string& id) { return store_.run_folder(id); });
    if (!agreement.difference.empty()) throw Error(agreement.difference);
    return std::move(agreement.unproved);
  }

 private:
  /// A view of somebody else could say what no row says. A bundle's database was made anew, so it has every
  /// table, index and view of this Encore, and nothing more.
  void require_own_schema() const {
    const auto empty = open_encore_database(bundle_.folder() / "empty.db", OpenMode::create);
    const std::map<std::string, std::string> own = schema_of(*empty), found = schema_of(store_.database());
    for (const auto& [name, text] : found)
      if (const auto known = own.find(name); known == own.end())
        throw Error("its database has the " + name + ", which Encore does not make");
      else if (known->second != text)
        throw Error("its database has another " + name + " than Encore makes");
    for (const auto& [name, text] : own)
      if (!found.contains(name)) throw Error("its database lacks the " + name);
  }

  /// "view curve" and what makes it, without comments and blanks between words.
  static std::map<std::string, std::string> schema_of(Database& database) {
    std::map<std::string, std::string> schema;
    Statement rows(database, "SELECT type, name, coalesce(sql, '') FROM sqlite_schema");
    while (rows.step()) {
      schema[rows.text(0) + " " + shown_name(rows.text(1))] = plain_sql(rows.text(2));
    }
    return schema;
  }

  /// It is printed as it is.
  static void require_plain(const std::string& name) {
    if (!is_sound_run_name(name))
      throw Error("its database has a run with the name " + shown_name(name) +
                  ", which holds control characters, begins with - or is empty");
  }

  void check_run(const RunRow& run) const {
    if (run.attempts == 0) return;
    const std::string prefix = bundle_runs + run.id + "/";
    if (!files_.contains(prefix + "specification.json"))
      throw Error("run " + run.name + " has no specification.json in it");
    const Specification specification = Specification::load(store_.run_folder(run.id));
    if (specification.run != run.id || specification.question != run.question)
      throw Error(prefix + "specification.json is of another experiment than run " + run.name);
    require_same_data(run, specification);
    for (const CheckpointRow& row : store_.read_checkpoints(run.number))
      require_digest(run, prefix + row.path, row.sha256,
                     "the checkpoint of step " + std::to_string(row.step));
    for (const ArtifactRow& row : store_.read_artifacts(run.number))
      require_digest(run, prefix + row.path, row.sha256, row.name);
  }

  /// What the rows say was read is what a training reads.
  void require_same_data(const RunRow& run, const Specification& specification) const {
    for (const DatasetRow& row : store_.read_datasets(run.number)) {
      const auto own = specification.data.find(row.role);
      if (own != specification.data.end() && own->second.sha256 != row.sha256)
        throw Error("run " + run.name + ": its rows say another content of " + row.role +
                    " than its specification.json");
    }
  }

  void require_digest(const RunRow& run, const std::string& path, const std::string& sha256,
                      const std::string& what) const {
    const auto file = files_.find(path);
    if (file != files_.end() && file->second->sha256 != sha256)
      throw Error("run " + run.name + ": " + path + " is not the file that was recorded as " + what);
  }

  const UnpackedBundle& bundle_;
  Store& store_;
  std::vector<RunRow> runs_;
  std::map<std::string, const BundleFile*> files_;
};

/// The database of a bundle that an earlier version made: its rows in one of this version's own schema.
void renew_database(const UnpackedBundle& bundle) {
  const fs::path database = bundle.database();
  const std::int64_t version = version_of_file(database);
  if (version >= schema_version) return;
  try {
    fs::remove(upgrade_database(database).backup);
  } catch (const Error& error) {
    throw Error("its database, of version " + std::to_string(version) + ", cannot be brought to version " +
                std::to_string(schema_version) + ": " + error.what());
  }
  const fs::path earlier = bundle.folder() / "earlier.db";
  fs::rename(database, earlier);
  Store own(database, OpenMode::create);
  for (const MergedRun& run : merge_database(own, earlier, {.folders = false}).runs)
    if (run.outcome != MergeOutcome::added) throw Error("run " + run.name + ": " + run.remark);
}

}  // namespace

std::vector<std::string> check_bundle(const UnpackedBundle& bundle, const std::string& origin) {
  try {
    renew_database(bundle);
    Store store(bundle.database(), OpenMode::read);
    return Checking(bundle, store).check();
  } catch (const Error& error) {
    // Where it was unpacked says nothing to a user.
    std::string text = error.what();
    const std::string place = bundle.folder().string() + "/";
    for (std::size_t at = 0; (at = text.find(place, at)) != std::string::npos;) text.erase(at, place.size());
    throw Error(origin + ": " + text);
  }
}

}  // namespace encore
