// SPDX-License-Identifier: BSD-3-Clause
// exp db: prints the path of the database and the results of check, backup, vacuum and upgrade.
// app/database.cpp and store/upgrade.hpp do the work; help_verb.cpp lists the verb. A new action is added to
// the list at the end. Programs read the JSON: members may be added, none renamed.
#include <nlohmann/json.hpp>

#include "app/database.hpp"
#include "cli/table.hpp"
#include "cli/verbs.hpp"
#include "report/wording.hpp"

namespace encore::cli {

namespace {

int db_path(const app::DbPathRequest& request, app::App& app, Console& console) {
  const std::string path = std::filesystem::absolute(app.database).string();
  if (request.json)
    console.print({{"version", 1}, {"path", path}});
  else
    console.out << path << '\n';
  return exit_done;
}

int db_check(const app::DbCheckRequest& request, app::App& app, Console& console) {
  const app::DatabaseFindings findings = app::check_database(request, app);
  if (request.json) {
    console.print({{"version", 1},
                   {"database", app.database.string()},
                   {"runs", findings.runs},
                   {"faults", findings.faults},
                   {"notes", findings.notes}});
    return findings.faults.empty() ? exit_done : exit_failed;
  }
  for (const std::string& fault : findings.faults) console.noticed(printable(fault));
  for (const std::string& note : findings.notes) console.out << "note: " << printable(note) << '\n';
  if (!findings.faults.empty()) return exit_failed;
  console.out << app.database.string() << " is sound: " << counted(findings.runs, "run") << '\n';
  return exit_done;
}

int db_backup(const app::DbBackupRequest& request, app::App& app, Console& console) {
  const app::Backup backup = app::back_up(request, app);
  if (request.json)
    console.print(
        {{"version", 1}, {"file", backup.file.string()}, {"bytes", backup.bytes}, {"runs", backup.runs}});
  else
    console.out << backup.file.string() << ": " << bytes_text(backup.bytes) << ", "
                << counted(backup.runs, "run")
                << "; it does not contain the files of the runs: " << app.database.string() << ".runs\n";
  return exit_done;
}

int db_vacuum(const app::DbVacuumRequest& request, app::App& app, Console& console) {
  const app::Vacuumed vacuumed = app::vacuum(app);
  if (request.json)
    console.print({{"version", 1},
                   {"database", app.database.string()},
                   {"bytes_before", vacuumed.before},
                   {"bytes", vacuumed.after}});
  else
    console.out << app.database.string() << ": " << bytes_text(vacuumed.before) << " before, "
                << bytes_text(vacuumed.after) << " now\n";
  return exit_done;
}

int db_upgrade(const app::DbUpgradeRequest& request, app::App& app, Console& console) {
  const store::Upgrade upgrade = store::upgrade_database(app.database);
  if (request.json)
    console.print({{"version", 1},
                   {"database", app.database.string()},
                   {"schema_before", upgrade.from},
                   {"schema", upgrade.to},
                   {"backup", upgrade.backup.string()}});
  else if (upgrade.from == upgrade.to)
    console.out << app.database.string() << " already has version " << upgrade.to << ", nothing to do\n";
  else
    console.out << app.database.string() << " now has version " << upgrade.to << "; the copy of version "
                << upgrade.from << " is " << upgrade.backup.string() << '\n';
  return exit_done;
}

}  // namespace

Verb db_verb() {
  return make_verb_of_actions(
      "db", "check, back up, shrink or upgrade the database", "the file with the record of all runs",
      {make_verb("check", "check the database and the files of its runs for damage", app::db_check_form,
                 db_check),
       make_verb("path", "print where the database is", app::db_path_form, db_path),
       make_verb("backup", "copy the database while other processes write to it", app::db_backup_form,
                 db_backup),
       make_verb("vacuum", "make the file as small as possible", app::db_vacuum_form, db_vacuum),
       db_merge_verb(),
       make_verb("upgrade", "upgrade an older database to the schema of this version", app::db_upgrade_form,
                 db_upgrade)});
}

}  // namespace encore::cli
