// SPDX-License-Identifier: BSD-3-Clause
// Checks an unpacked bundle (check_bundle, called by cli/bundle_text.cpp), in this order: the sender's rows
// are copied into a new database; each run is compared with its specification and its question, files with
// rows, and rows with spools. Everything in a bundle is untrusted. A refusal must stay a refusal:
// tests/system/control/forged_bundle_test.cpp changes every column. Read check_bundle.hpp first.
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

namespace encore::bundle {

namespace {

namespace fs = std::filesystem;

/// Returns the most steps of SQLite that reading the database of the bundle and merging its spools may take.
std::uint64_t allowed_steps(const archive::BundleIndex& index) {
  std::uint64_t bytes = 0;  // of files that were unpacked, so no sum overflows
  for (const archive::BundleFile& file : index.files)
    if (file.path == archive::bundle_database || file.path.ends_with(".spool")) bytes += file.bytes;
  return std::max(archive::bundle_budget.database_steps,
                  bytes * archive::bundle_budget.database_steps_per_byte);
}

/// Returns the objects of a schema, such as "view curve", each with the statement that makes it, without
/// comments and blanks between words.
std::map<std::string, std::string> schema_of(store::Database& database) {
  std::map<std::string, std::string> schema;
  store::Statement rows(database, "SELECT type, name, coalesce(sql, '') FROM sqlite_schema");
  while (rows.step())
    schema[rows.text(0) + " " + archive::shown_name(rows.text(1))] = store::plain_sql(rows.text(2));
  return schema;
}

/// Throws Error unless the database of the bundle has every table, index and view of this Encore and no
/// others. pack_bundle() writes a new database, so an honest bundle has nothing else in it.
void require_made_schema(store::Database& own, store::Database& found) {
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
  if (!record::is_sound_run_name(name))
    throw Error("its database has a run with the name " + archive::shown_name(name) +
                ", which holds control characters, begins with - or is empty");
}

/// Returns whether a StepBudget (store/step_budget.hpp) ended the query because its steps were used up.
bool is_interruption(const Error& error) {
  const auto* of_database = dynamic_cast<const store::DatabaseError*>(&error);
  return of_database != nullptr && of_database->interrupted();
}

/// Chooses all runs and searches of the sender's database for the merge. Throws Error if it is damaged or has
/// an unusable name.
store::DatabaseChoice choice_of(store::Store& sender) {
  if (const std::string damage = store::damage_of(sender.database()); !damage.empty())
    throw Error("its database is damaged: " + damage);
  store::DatabaseChoice choice;
  for (const store::RunRow& run : sender.list_runs({.sight = store::Sight::any})) {
    choice.runs.insert(record::require_run_id(run.id, "its database"));
    require_plain(run.name);
  }
  if (choice.runs.empty()) throw Error("its database has no run");
  for (const store::SearchRow& search : store::list_searches(sender)) choice.searches.insert(search.name);
  return choice;
}

/// Upgrades a database of an earlier version to the rows of this one; returns whether it did.
bool upgrade(const fs::path& database, std::uint64_t steps) {
  const std::int64_t version = store::version_of_file(database);
  if (version >= store::schema_version) return false;
  try {
    fs::remove(store::upgrade_database(database, store::known_migrations(), steps).backup);
  } catch (const Error& error) {
    if (is_interruption(error)) throw;
    throw Error("its database, of version " + std::to_string(version) + ", cannot be brought to version " +
                std::to_string(store::schema_version) + ": " + error.what());
  }
  return true;
}

/// Copies the sender's rows into a database that store/schema.sql makes, with its types, keys and checks.
/// Numbers of rows, leases and origins are our own.
void copy_rows(const fs::path& sent, const fs::path& database, const std::string& origin, bool is_upgraded,
               std::uint64_t steps) {
  store::Store own(database, store::OpenMode::create);
  own.database().execute("PRAGMA synchronous = OFF");  // no sync: the database is removed with its folder
  store::Store sender(sent, store::OpenMode::read);
  const store::StepBudget budget(sender.database(), steps);
  if (!is_upgraded) require_made_schema(own.database(), sender.database());
  const store::DatabaseMerge merged =
      store::merge_database(own, sent,
                            {.only = choice_of(sender),
                             .origin = store::OriginRow{.kind = "bundle",
                                                        .name = fs::path(origin).filename().string(),
                                                        .sha256 = "",
                                                        .time = world::now_seconds()},
                             .durable = false,
                             .steps = steps,
                             .folders = false});
  for (const store::MergedRun& run : merged.runs)
    if (run.outcome != store::MergeOutcome::added) throw Error("run " + run.name + ": " + run.remark);
  store::Transaction transaction(own.database());
  own.database().execute("UPDATE attempt SET token = '', expires = 0, expires_uptime = 0");
  transaction.commit();
}

/// Replaces the sender's database by a new one with the sender's rows.
void take_rows(const archive::UnpackedBundle& bundle, const std::string& origin) {
  const fs::path own = bundle.folder() / "own.db";
  const std::uint64_t steps = allowed_steps(bundle.index());
  copy_rows(bundle.database(), own, origin, upgrade(bundle.database(), steps), steps);
  fs::rename(own, bundle.database());
}

class Checking {
 public:
  Checking(const archive::UnpackedBundle& bundle, store::Store& store, const config::Catalogue& catalogue)
      : bundle_(bundle), store_(store), catalogue_(catalogue), found_(bundle.folder(), {}) {
    for (const archive::BundleFile& file : bundle.index().files) files_[file.path] = &file;
  }

  CheckedBundle check() {
    std::set<std::string> known;
    for (const store::RunRow& run : store_.list_runs({.sight = store::Sight::any})) check_run(run, known);
    for (const auto& [path, file] : files_)
      if ((path.starts_with(archive::bundle_runs) && !known.contains(path)) ||
          (path.starts_with(archive::bundle_data) && !data_.contains(data_folder_of(path))))
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
  void check_run(const store::RunRow& run, std::set<std::string>& known) {
    if (run.attempts == 0) return;
    const std::string prefix = archive::bundle_runs + run.id + "/";
    if (!files_.contains(prefix + "specification.json"))
      throw Error("run " + run.name + " has no specification.json in it");
    const record::Specification specification = record::Specification::load(store_.run_folder(run.id));
    if (const std::string difference = difference_from_specification(store_, run, specification);
        !difference.empty())
      throw Error(difference);
    if (const std::string why = claimed_question(run, specification, catalogue_); !why.empty())
      checked_.claimed_questions[run.id] = why;
    take_from_specification(store_, run, specification);
    for (const auto& [role, file] : specification.data) check_data(run, role, file);
    for (const char* name :
         {"specification.json", "vocab.txt", "labels.txt", "max_length.txt", record::weights_file})
      known.insert(prefix + name);
    for (const store::AttemptRow& attempt : store_.read_attempts(run.number)) {
      const fs::path spool = record::spool_name(attempt.ordinal);
      known.insert({prefix + spool.string(), prefix + fs::path(spool).replace_extension(".log").string()});
    }
    for (const store::CheckpointRow& row : store_.read_checkpoints(run.number))
      require_digest(run, prefix + row.path, row.sha256, "the checkpoint of step " + std::to_string(row.step),
                     known);
    for (const store::ArtifactRow& row : store_.read_artifacts(run.number))
      require_digest(run, prefix + row.path, row.sha256, row.name, known);
    if (files_.contains(prefix + record::weights_file)) check_weights(run, prefix);
  }

  /// Checks the data of a run: packed files must have the content that the run read.
  void check_data(const store::RunRow& run, const std::string& role, const record::DataFile& file) {
    const std::string folder = archive::bundle_data + file.sha256 + "/";
    data_.insert(folder);
    const auto packed = files_.lower_bound(folder);
    if (packed == files_.end() || !packed->first.starts_with(folder)) return;
    if (!found_.find(file))
      throw Error(packed->first + " does not have the SHA-256 of " + role + " of run " + run.name);
  }

  /// Returns "data/<SHA-256>/".
  static std::string data_folder_of(const std::string& path) {
    return path.substr(0, path.find('/', archive::bundle_data.size()) + 1);
  }

  /// Checks that the weights belong to the question of the run and to its files with tokens and labels.
  void check_weights(const store::RunRow& run, const std::string& prefix) const {
    const record::WeightsFacts facts = record::WeightsFile(store_.run_folder(run.id)).facts();
    if (facts.question != run.question)
      throw Error("run " + run.name + ": the parameters in " + record::weights_file +
                  " belong to another question");
    for (const auto& [name, sha256] : facts.files)
      if (const auto file = files_.find(prefix + name);
          file != files_.end() && file->second->sha256 != sha256)
        throw Error("run " + run.name + ": " + prefix + name + " is not the file that belongs to the " +
                    "parameters of " + record::weights_file);
  }

  void require_digest(const store::RunRow& run, const std::string& path, const std::string& sha256,
                      const std::string& what, std::set<std::string>& known) const {
    known.insert(path);
    const auto file = files_.find(path);
    if (file != files_.end() && file->second->sha256 != sha256)
      throw Error("run " + run.name + ": " + path + " is not the file that was recorded as " + what);
  }

  const archive::UnpackedBundle& bundle_;
  store::Store& store_;
  const config::Catalogue& catalogue_;
  FoundData found_;                                          ///< in the bundle alone
  std::map<std::string, const archive::BundleFile*> files_;  ///< by path
  std::set<std::string> data_;                               ///< folders of contents that runs read
  CheckedBundle checked_;
};

}  // namespace

CheckedBundle check_bundle(const archive::UnpackedBundle& bundle, const std::string& origin,
                           const config::Catalogue& catalogue) {
  try {
    take_rows(bundle, origin);
    store::Store store(bundle.database(), store::OpenMode::write);
    store.database().execute("PRAGMA synchronous = OFF");
    const store::StepBudget budget(store.database(), allowed_steps(bundle.index()));
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

}  // namespace encore::bundle
