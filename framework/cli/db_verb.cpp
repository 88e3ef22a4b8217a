// db: where the database is, and what keeps its file in order: backup, vacuum, upgrade.
#include "cli/db_verb.hpp"

#include <sqlite3.h>

#include <iostream>

#include "cli/access.hpp"
#include "cli/format.hpp"
#include "report/wording.hpp"
#include "store/foreign_schema.hpp"
#include "store/upgrade.hpp"

namespace encore {

namespace {

int db_path(const Arguments& arguments) {
  CommandLine line("db path",
                   {"db path",
                    "Prints where the database is: the one of --db, of $ENCORE_DB, or encore.db here.",
                    {{"exp db path", "what to hand to sqlite3"}}});
  if (!line.parse(arguments)) return exit_done;
  std::cout << std::filesystem::absolute(line.database()).string() << '\n';
  return exit_done;
}

int db_backup(const Arguments& arguments) {
  CommandLine line(
      "db backup",
      {"db backup FILE [options]",
       "Copies the database into a new file, whole and consistent, while others go on writing to it. The "
       "folders of the runs (checkpoints, predictions) are not in it: copy them beside.",
       {{"exp db backup safe.db", "a copy of now, under a name that is free"}}});
  line.positional("file");
  if (!line.parse(arguments)) return exit_done;
  const std::filesystem::path target = line.required("file", "a file to write");
  const auto database = open_encore_database(line.database(), OpenMode::read);
  backup_database(*database, target);
  std::cout << target.string() << ": " << bytes_text(std::filesystem::file_size(target)) << ", "
            << counted(static_cast<std::size_t>(
                           *Database(target, SQLITE_OPEN_READONLY, {}).integer("SELECT count(*) FROM run")),
                       "run")
            << "; the files of the runs are not in it: " << line.database().string() << ".runs\n";
  return exit_done;
}

/// What the log file holds counts too: after writing it can be the larger part.
std::uint64_t bytes_of(const std::filesystem::path& database) {
  std::error_code failure;
  const auto log = std::filesystem::file_size(database.string() + "-wal", failure);
  return std::filesystem::file_size(database) + (failure ? 0 : log);
}

int db_vacuum(const Arguments& arguments) {
  CommandLine line("db vacuum",
                   {"db vacuum [options]",
                    "Gives the space of what was removed back to the file system and puts the rows in order. "
                    "Others wait meanwhile; it needs as much free space as the database has.",
                    {{"exp db vacuum", "make the file as small as its content"}}});
  if (!line.parse(arguments)) return exit_done;
  const auto database = open_encore_database(line.database(), OpenMode::write);
  const std::uint64_t before = bytes_of(line.database());
  const Unguarded unguarded(*database);  // PRAGMA optimize makes tables of statistics
  database->execute("VACUUM");
  database->execute("PRAGMA wal_checkpoint(TRUNCATE)");
  database->execute("PRAGMA optimize");
  std::cout << line.database().string() << ": " << bytes_text(before) << " before, "
            << bytes_text(bytes_of(line.database())) << " now\n";
  return exit_done;
}

int db_upgrade(const Arguments& arguments) {
  CommandLine line("db upgrade",
                   {"db upgrade [options]",
                    "Brings the database of an older Encore to the schema of this one: a copy is put beside "
                    "it first, then all steps happen in one transaction. Nothing else ever changes a schema.",
                    {{"exp db upgrade", "nothing to do where the version is that of this Encore"}}});
  if (!line.parse(arguments)) return exit_done;
  const Upgrade upgrade = upgrade_database(line.database());
  if (upgrade.from == upgrade.to)
    std::cout << line.database().string() << " is of version " << upgrade.to << " already, nothing to do\n";
  else
    std::cout << line.database().string() << " is of version " << upgrade.to << " now; as it was, of version "
              << upgrade.from << ", it lies in " << upgrade.backup.string() << '\n';
  return exit_done;
}

}  // namespace

const std::vector<Verb>& db_actions() {
  static const std::vector<Verb> list = {
      {"check", "look for damage in the database and in the files of its runs", db_check},
      {"path", "print where the database is", db_path},
      {"backup", "copy the database while others write", db_backup},
      {"vacuum", "make the file as small as its content", db_vacuum},
      {"merge", "bring in the runs of other databases", db_merge, nullptr, "exp-report"},
      {"upgrade", "bring an older database to the schema of this Encore", db_upgrade},
  };
  return list;
}

int db_verb(const Arguments& arguments) {
  return run_action(find_verb("db"), "the file in which everything about runs is kept", arguments);
}

}  // namespace encore
