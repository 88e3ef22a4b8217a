// SPDX-License-Identifier: BSD-3-Clause
// Checks an unpacked bundle (check_bundle, called by cli/bundle_text.cpp), in this order: the sender's rows
// are copied into a new database; each run is compared with its specification and its question, files with
// rows, and rows with spools. Everything in a bundle is untrusted. Read check_bundle.hpp first.
#include "bundle/check_bundle.hpp"

#include <algorithm>
#include <set>

#include "archive/bundle_budget.hpp"
#include "archive/tar.hpp"
#include "bundle/found_data.hpp"
#include "bundle/settings_agreement.hpp"
#include "bundle/spool_agreement.hpp"
#include "record/run_paths.hpp"
#include "record/spool.hpp"
#include "record/weights_file.hpp"
#include "store/database_merge.hpp"
#include "store/foreign_schema.hpp"
#include "store/searches.hpp"
#include "store/step_budget.hpp"
#include "store/upgrade.hpp"

namespace encore {

namespace {

namespace fs = std::filesystem;

/// Returns how many steps of SQLite may read the database of the bundle and merge its spools.
std::uint64_t allowed_steps(const BundleIndex& index) {
  std::uint64_t bytes = 0;  // of files that were unpacked, so no sum overflows
  for (const BundleFile& file : index.files)
    if (file.path == bundle_database || file.path.ends_with(".spool")) bytes += file.bytes;
  return std::max(bundle_budget.database_steps, bytes * bundle_budget.database_steps_per_byte);
}

/// Returns the objects of a schema, such as "view curve", each with the statement that makes it, without
/// comments and blanks between words.
std::map<std::string, std::string> schema_of(Database& database) {
  std::map<std::string, std::string> schema;
  Statement rows(database, "SELECT type, name, coalesce(sql, '') FROM sqlite_schema");
  while (rows.step()) schema[rows.text(0) + " " + shown_name(rows.text(1))] = plain_sql(rows.text(2));
  return schema;
}

/// Throws Error unless the database of the bundle has every table, index and view of this Encore and no
/// others. A bundle always gets a new database, so nothing else can be in it.
void require_made_schema(Database& own, Database& found) {
  const std::map<std::string, std::string> made = schema_of(own), there = schema_of(found);
  for (const auto& [name, text] : there)
    if (const auto known = made.find(name); known == made.end())
      throw Error("its database has the " + name + ", which Encore does not make");
    else if (known->second != text)
      throw Error("its database has another " + name + " than Encore makes");
  for (const auto& [name, text] : made)
    if (!there.contains(name)) throw Error("its database lacks the " + name);
}

/// Throws Error if the name of a run cannot be printed as it is.
void require_plain(const std::string& name) {
  if (!is_sound_run_name(name))
    throw Error("its database has a run with the name " + shown_name(name) +
                ", which holds control characters, begins with - or is empty");
}

/// Returns whether the error comes from a StepBudget that was spent.
bool is_interruption(const Error& error) {
  const auto* of_database = dynamic_cast<const DatabaseError*>(&error);
  return of_database != nullptr && of_database->interrupted();
}

/// Returns the choice of everything in the sender's database that is about its runs and searches.
DatabaseChoice choice_of(Store& sender) {
  if (const std::string damage = damage_of(sender.database()); !damage.empty())
    throw Error("its database is damaged: " + damage);
  DatabaseChoice choice;
  for (const RunRow& run : sender.list_runs({.sight = Sight::any})) {
    choice.runs.insert(require_run_id(run.id, "its database"));
    require_plain(run.name);
  }
  if (choice.runs.empty()) throw Error("its database has no run");
  for (const SearchRow& search : list_searches(sender)) choice.searches.insert(search.name);
  return choice;
}

/// Upgrades a database of an earlier version to the rows of this one; returns whether it did.
bool upgrade(const fs::path& database, std::uint64_t steps) {
  const std::int64_t version = version_of_file(database);
  if (version >= schema_version) return false;
  try {
    fs::remove(upgrade_database(database, known_migrations(), steps).backup);
  } catch (const Error& error) {
    if (is_interruption(error)) throw;
    throw Error("its database, of version " + std::to_string(version) + ", cannot be brought to version " +
                std::to_string(schema_version) + ": " + error.what());
  }
  return true;
}

/// Copies the sender's rows into a database that store/schema.sql makes, with its types, keys and checks.
/// Numbers of rows, leases and origins are our own.
void copy_rows(const fs::path& sent, const fs::path& database, const std::string& origin, bool is_upgraded,
               std::uint64_t steps) {
  Store own(database, OpenMode::create);
  own.database().execute("PRAGMA synchronous = OFF");  // no sync: the database is removed with its folder
  Store sender(sent, OpenMode::read);
  const StepBudget budget(sender.database(), steps);
  if (!is_upgraded) require_made_schema(own.database(), sender.database());
  const DatabaseMerge merged =
      merge_database(own, sent,
                     {.only = choice_of(sender),
                      .origin = OriginRow{.kind = "bundle",
                                          .name = fs::path(origin).filename().string(),
                                          .sha256 = "",
                                          .time = now_seconds()},
                      .durable = false,
                      .steps = steps,
                      .folders = false});
  for (const MergedRun& run : merged.runs)
    if (run.outcome != MergeOutcome::added) throw Error("run " + run.name + ": " + run.remark);
  Transaction transaction(own.database());
  own.database().execute("UPDATE attempt SET token = '', expires = 0, expires_uptime = 0");
  transaction.commit();
}

/// Replaces the sender's database by a new one with the sender's rows.
void take_rows(const UnpackedBundle& bundle, const std::string& origin) {
  const fs::path own = bundle.folder() / "own.db";
  const std::uint64_t steps = allowed_steps(bundle.index());
  copy_rows(bundle.database(), own, origin, upgrade(bundle.database(), steps), steps);
  fs::rename(own, bundle.database());
}

class Checking {
 public:
  Checking(const UnpackedBundle& bundle, Store& store, const Catalogue& catalogue)
      : bundle_(bundle), store_(store), catalogue_(catalogue), found_(bundle.folder(), {}) {
    for (const BundleFile& file : bundle.index().files) files_[file.path] = &file;
  }

  CheckedBundle check() {
    std::set<std::string> known;
    for (const RunRow& run : store_.list_runs({.sight = Sight::any})) check_run(run, known);
    for (const auto& [path, file] : files_)
      if ((path.starts_with(bundle_runs) && !known.contains(path)) ||
          (path.starts_with(bundle_data) && !data_.contains(data_folder_of(path))))
        throw Error(path + " belongs to no run of its database");
    SpoolAgreement agreement = compare_with_spools(
        store_, bundle_.folder(), [&](const std::string& id) { return store_.run_folder(id); },
        allowed_steps(bundle_.index()));
    if (!agreement.difference.empty()) throw Error(agreement.difference);
    checked_.unproved = std::move(agreement.unproved);
    return std::move(checked_);
  }

 private:
  /// Checks the files of a run, and adds them to `known`.
  void check_run(const RunRow& run, std::set<std::string>& known) {
    if (run.attempts == 0) return;
    const std::string prefix = bundle_runs + run.id + "/";
    if (!files_.contains(prefix + "specification.json"))
      throw Error("run " + run.name + " has no specification.json in it");
    const Specification specification = Specification::load(store_.run_folder(run.id));
    if (const std::string difference = difference_from_specification(store_, run, specification);
        !difference.empty())
      throw Error(difference);
    if (const std::string why = claimed_question(run, specification, catalogue_); !why.empty())
      checked_.claimed_questions[run.id] = why;
    take_from_specification(store_, run, specification);
    for (const auto& [role, file] : specification.data) check_data(run, role, file);
    for (const char* name : {"specification.json", "vocab.txt", "labels.txt", "max_length.txt", weights_file})
      known.insert(prefix + name);
    for (const AttemptRow& attempt : store_.read_attempts(run.number)) {
      const fs::path spool = spool_name(attempt.ordinal);
      known.insert({prefix + spool.string(), prefix + fs::path(spool).replace_extension(".log").string()});
    }
    for (const CheckpointRow& row : store_.read_checkpoints(run.number))
      require_digest(run, prefix + row.path, row.sha256, "the checkpoint of step " + std::to_string(row.step),
                     known);
    for (const ArtifactRow& row : store_.read_artifacts(run.number))
      require_digest(run, prefix + row.path, row.sha256, row.name, known);
    if (files_.contains(prefix + weights_file)) check_weights(run, prefix);
  }

  /// Checks the data of a run: packed files must have the content that the run read.
  void check_data(const RunRow& run, const std::string& role, const DataFile& file) {
    const std::string folder = bundle_data + file.sha256 + "/";
    data_.insert(folder);
    const auto packed = files_.lower_bound(folder);
    if (packed == files_.end() || !packed->first.starts_with(folder)) return;
    if (!found_.find(file))
      throw Error(packed->first + " does not have the SHA-256 of " + role + " of run " + run.name);
  }

  /// Returns "data/<SHA-256>/".
  static std::string data_folder_of(const std::string& path) {
    return path.substr(0, path.find('/', bundle_data.size()) + 1);
  }

  /// Checks that the weights belong to the question of the run and to its files with tokens and labels.
  void check_weights(const RunRow& run, const std::string& prefix) const {
    const WeightsFacts facts = WeightsFile(store_.run_folder(run.id)).facts();
    if (facts.question != run.question)
      throw Error("run " + run.name + ": the parameters in " + weights_file + " belong to another question");
    for (const auto& [name, sha256] : facts.files)
      if (const auto file = files_.find(prefix + name);
          file != files_.end() && file->second->sha256 != sha256)
        throw Error("run " + run.name + ": " + prefix + name + " is not the file that belongs to the " +
                    "parameters of " + weights_file);
  }

  void require_digest(const RunRow& run, const std::string& path, const std::string& sha256,
                      const std::string& what, std::set<std::string>& known) const {
    known.insert(path);
    const auto file = files_.find(path);
    if (file != files_.end() && file->second->sha256 != sha256)
      throw Error("run " + run.name + ": " + path + " is not the file that was recorded as " + what);
  }

  const UnpackedBundle& bundle_;
  Store& store_;
  const Catalogue& catalogue_;
  FoundData found_;                                 ///< in the bundle alone
  std::map<std::string, const BundleFile*> files_;  ///< by path
  std::set<std::string> data_;                      ///< folders of contents that runs read
  CheckedBundle checked_;
};

}  // namespace

CheckedBundle check_bundle(const UnpackedBundle& bundle, const std::string& origin,
                           const Catalogue& catalogue) {
  try {
    take_rows(bundle, origin);
    Store store(bundle.database(), OpenMode::write);
    store.database().execute("PRAGMA synchronous = OFF");
    const StepBudget budget(store.database(), allowed_steps(bundle.index()));
    return Checking(bundle, store, catalogue).check();
  } catch (const Error& error) {
    if (is_interruption(error))
      throw Error(origin + ": its database takes more than " + std::to_string(allowed_steps(bundle.index())) +
                  " steps of SQLite to read; no honest database of its size needs as many");
    // Removes the temporary folder from the message, because it means nothing to a user.
    std::string text = error.what();
    const std::string place = bundle.folder().string() + "/";
    for (std::size_t at = 0; (at = text.find(place, at)) != std::string::npos;) text.erase(at, place.size());
    throw Error(origin + ": " + text);
  }
}

}  // namespace encore
