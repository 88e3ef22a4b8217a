// SPDX-License-Identifier: BSD-3-Clause
// The requests, forms and results of `exp db path`, check, backup, vacuum and upgrade. cli/db_verb.cpp calls
// the functions and prints the results; store/upgrade.hpp does the upgrade itself. Only vacuum and upgrade
// write the database, and no function here removes a record.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/app.hpp"
#include "app/form.hpp"
#include "store/upgrade.hpp"

namespace encore::app {

struct DbPathRequest {
  bool json = false;
};

struct DbCheckRequest {
  bool quick = false;  ///< do not compute the hashes of checkpoints and other files
  bool json = false;
};

struct DbBackupRequest {
  std::string file;  ///< the copy to write; it must not exist
  bool json = false;
};

struct DbVacuumRequest {
  bool json = false;
};

struct DbUpgradeRequest {
  bool json = false;
};

Form<DbPathRequest> db_path_form();
Form<DbCheckRequest> db_check_form();
Form<DbBackupRequest> db_backup_form();
Form<DbVacuumRequest> db_vacuum_form();
Form<DbUpgradeRequest> db_upgrade_form();

/// What `exp db check` found. Each entry is one sentence.
struct DatabaseFindings {
  std::vector<std::string> faults;  ///< damage that lost or changed a record; the exit code reports it
  std::vector<std::string> notes;   ///< damage on disk without loss of records
  std::size_t runs = 0;             ///< number of runs in the database
};
DatabaseFindings check_database(const DbCheckRequest& request, const App& app);

struct Backup {
  std::filesystem::path file;  ///< the copy
  std::uint64_t bytes = 0;
  std::size_t runs = 0;  ///< number of runs in the copy
};
Backup back_up(const DbBackupRequest& request, const App& app);

struct Vacuumed {
  std::uint64_t before = 0, after = 0;  ///< bytes of the database
};
Vacuumed vacuum(const App& app);

}  // namespace encore::app
