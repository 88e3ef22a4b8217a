// SPDX-License-Identifier: BSD-3-Clause
// `exp db`: checks the database and the files of its runs for damage, backs it up and shrinks it; the forms
// of these actions and of path and upgrade are here too. cli/db_verb.cpp calls the functions and prints the
// results. A new check is added to look_through(); a finding is one sentence for the user. Read next:
// database.hpp, store/store.hpp.
#include "app/database.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "analysis/foreign_values.hpp"
#include "base/json_text.hpp"
#include "base/sha256.hpp"
#include "record/run_paths.hpp"
#include "report/wording.hpp"
#include "store/foreign_schema.hpp"
#include "store/newest.hpp"
#include "store/record_gaps.hpp"

namespace encore::app {

namespace {

/// Returns the SHA-256 of the files on disk, keyed by path. If several attempts reached one step, the last
/// one has written the file.
std::map<std::string, std::string> checkpoints_of(store::Store& store, std::int64_t run) {
  std::map<std::string, std::string> last;
  std::map<std::string, int> attempt;
  for (const store::CheckpointRow& checkpoint : store.read_checkpoints(run)) {
    if (!checkpoint.on_disk || checkpoint.attempt < attempt[checkpoint.path]) continue;
    attempt[checkpoint.path] = checkpoint.attempt;
    last[checkpoint.path] = checkpoint.sha256;
  }
  return last;
}

/// Reports a missing best checkpoint of a complete run. Encore never removes one. A bundle may lack it, so
/// runs from elsewhere are not checked.
void check_best(store::Store& store, const store::RunRow& run, std::vector<std::string>& faults) {
  if (run.origin || run.state != store::RunState::completed || !run.result.is_object()) return;
  const std::int64_t best = run.result.value("best_step", std::int64_t{-1});
  const std::vector<store::CheckpointRow> checkpoints = store.read_checkpoints(run.number);
  const auto found = std::ranges::find(checkpoints, best, &store::CheckpointRow::step);
  if (found != checkpoints.end() && !found->on_disk)
    faults.push_back("run " + run.name + ": the best checkpoint, " + found->path + ", is missing");
}

void check_files(store::Store& store, const store::RunRow& run, const std::filesystem::path& folder,
                 std::vector<std::string>& faults) {
  for (const auto& [path, sha256] : checkpoints_of(store, run.number))
    if (sha256_of_file(record::path_below(folder, path)) != sha256)
      faults.push_back("run " + run.name + ": " + path + " is not the file that was recorded");
  for (const store::ArtifactRow& artifact : store.read_artifacts(run.number))
    if (const auto file = record::path_below(folder, artifact.path);
        std::filesystem::exists(file) && sha256_of_file(file) != artifact.sha256)
      faults.push_back("run " + run.name + ": " + artifact.path + " is not the file that was recorded");
}

/// Checks the spools of a run. Damage is a fault if a complete run has lost records by it.
void check_spools(store::Store& store, const store::RunRow& run, DatabaseFindings& findings) {
  for (const store::RecordGap& gap : store::find_record_gaps(store, run)) {
    const bool fault = gap.lost && run.state == store::RunState::completed;
    const std::string rest = fault      ? ""
                             : gap.lost ? "; the run is not complete and may still record it"
                                        : "; the database has all records";
    (fault ? findings.faults : findings.notes).push_back("run " + run.name + ": " + gap.text + rest);
  }
}

void check_run(store::Store& store, const store::RunRow& run, bool hash, DatabaseFindings& findings) {
  const std::filesystem::path folder = store.run_folder(run.id);
  if (run.attempts > 0 && !std::filesystem::exists(folder)) {
    findings.faults.push_back("run " + run.name + ": the folder " + folder.string() + " is missing");
    return;
  }
  check_spools(store, run, findings);
  if (const auto metric = store::wrong_newest(store.database(), run.number))
    findings.faults.push_back("run " + run.name + ": the newest value of " + *metric +
                              " in lists differs from that of its points");
  check_best(store, run, findings.faults);
  if (hash) check_files(store, run, folder, findings.faults);
}

/// Checks the folders of all runs. A copied database has none.
void check_runs(store::Store& store, bool hash, DatabaseFindings& findings) {
  const std::vector<store::RunRow> runs = store.list_runs({.sight = store::Sight::any});
  const std::filesystem::path all = store.runs_folder();
  const auto trained = std::ranges::count_if(runs, [](const store::RunRow& run) { return run.attempts > 0; });
  if (trained > 0 && !std::filesystem::exists(all)) {
    findings.faults.push_back(
        all.string() + ", the folder with the files of " + counted(static_cast<std::size_t>(trained), "run") +
        ", is missing; a copy of a database needs a copy of this folder beside it, with this name");
    return;
  }
  for (const store::RunRow& run : runs) {
    try {
      analysis::reading_values_of(store, [&] { check_run(store, run, hash, findings); });
    } catch (const Error& error) {
      findings.faults.push_back("run " + run.name + ": " + error.what());
    }
  }
}

/// Reports columns with damaged JSON. Programs that show such a value leave it out.
void check_json(store::Store& store, std::vector<std::string>& faults) {
  constexpr std::pair<const char*, const char*> columns[] = {
      {"host", "description"},     {"build", "description"},      {"run", "result"},
      {"attempt", "environment"},  {"attempt", "progress"},       {"attempt", "started_event"},
      {"verification", "details"}, {"bench", "settings"},         {"bench", "noise"},
      {"bench_case", "settings"},  {"bench_case", "environment"}, {"bench_case", "facts"}};
  for (const auto& [table, column] : columns) {
    store::Statement& rows = store.database().cached("SELECT number, " + std::string(column) + " FROM " +
                                                     table + " WHERE " + column + " IS NOT NULL");
    while (rows.step()) {
      try {
        parse_json(rows.text(1));
      } catch (const JsonError& error) {
        faults.push_back(table + (" " + std::to_string(rows.integer(0))) + ": its " + column +
                         " cannot be read: " + error.what());
      }
    }
    rows.reset();
  }
}

DatabaseFindings look_through(store::Store& store, bool hash) {
  DatabaseFindings findings;
  std::vector<std::string>& faults = findings.faults;
  store::Statement& integrity = store.database().cached("PRAGMA integrity_check");
  while (integrity.step())
    if (integrity.text(0) != "ok") faults.push_back("the file is damaged: " + integrity.text(0));
  integrity.reset();
  store::Statement& foreign = store.database().cached("PRAGMA foreign_key_check");
  while (foreign.step())
    faults.push_back("a row of table " + foreign.text(0) + " refers to one of " + foreign.text(2) +
                     " that does not exist");
  foreign.reset();
  check_json(store, faults);
  check_runs(store, hash, findings);
  return findings;
}

/// Returns the size of a database with its write-ahead log, which can be the larger part after writing.
std::uint64_t bytes_of(const std::filesystem::path& database) {
  std::error_code failure;
  const auto log = std::filesystem::file_size(database.string() + "-wal", failure);
  return std::filesystem::file_size(database) + (failure ? 0 : log);
}

}  // namespace

Form<DbPathRequest> db_path_form() {
  using R = DbPathRequest;
  return Form<R>("db path",
                 {"db path",
                  "Prints the path of the database: --db, else $ENCORE_DB, else encore.db in this folder.",
                  {{"exp db path", "the argument for sqlite3"}}})
      .flag("json", &R::json, "as JSON");
}

Form<DbCheckRequest> db_check_form() {
  using R = DbCheckRequest;
  return Form<R>("db check", {"db check [options]",
                              "Checks the database for damage and missing run folders, and compares "
                              "checkpoints and predictions with their recorded hashes.",
                              {{"exp db check", "check the database and the folders of its runs"}}})
      .flag("quick", &R::quick, "do not read checkpoints and predictions")
      .flag("json", &R::json, "as JSON");
}

Form<DbBackupRequest> db_backup_form() {
  using R = DbBackupRequest;
  return Form<R>(
             "db backup",
             {"db backup FILE [options]",
              "Copies the database into a new file, complete and consistent, while other processes write to "
              "it. The folders of the runs (checkpoints, predictions) are not included: copy them beside.",
              {{"exp db backup safe.db", "copy the current state into a new file"}}})
      .argument("file", &R::file, "a file to write")
      .flag("json", &R::json, "as JSON");
}

Form<DbVacuumRequest> db_vacuum_form() {
  using R = DbVacuumRequest;
  return Form<R>("db vacuum",
                 {"db vacuum [options]",
                  "Returns the space of removed rows to the file system and sorts the rows. Other processes "
                  "wait meanwhile. Needs as much free space as the size of the database.",
                  {{"exp db vacuum", "make the file as small as possible"}}})
      .flag("json", &R::json, "as JSON");
}

Form<DbUpgradeRequest> db_upgrade_form() {
  using R = DbUpgradeRequest;
  return Form<R>("db upgrade",
                 {"db upgrade [options]",
                  "Upgrades the database of an older Encore to the schema of this version: copies the file "
                  "first, then runs all steps in one transaction. No other command changes the schema.",
                  {{"exp db upgrade", "does nothing if the schema is up to date"}}})
      .flag("json", &R::json, "as JSON");
}

DatabaseFindings check_database(const DbCheckRequest& request, const App& app) {
  store::Store store(app.database, store::OpenMode::read);
  DatabaseFindings findings = look_through(store, !request.quick);
  findings.runs = store.list_runs({.sight = store::Sight::any}).size();
  return findings;
}

Backup back_up(const DbBackupRequest& request, const App& app) {
  const auto database = store::open_encore_database(app.database, store::OpenMode::read);
  store::backup_database(*database, request.file);
  return {.file = request.file,
          .bytes = std::filesystem::file_size(request.file),
          .runs = static_cast<std::size_t>(
              *store::Database(request.file, SQLITE_OPEN_READONLY, {}).integer("SELECT count(*) FROM run"))};
}

Vacuumed vacuum(const App& app) {
  const auto database = store::open_encore_database(app.database, store::OpenMode::write);
  Vacuumed vacuumed{.before = bytes_of(app.database)};
  const store::Unguarded unguarded(*database);  // PRAGMA optimize makes tables of statistics
  database->execute("VACUUM");
  database->execute("PRAGMA wal_checkpoint(TRUNCATE)");
  database->execute("PRAGMA optimize");
  vacuumed.after = bytes_of(app.database);
  return vacuumed;
}

}  // namespace encore::app
