// SPDX-License-Identifier: BSD-3-Clause
// The requests, forms and results of `exp db path`, check, backup, vacuum and upgrade. cli/db_verb.cpp calls
// the functions.
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
  bool quick = false;
  bool json = false;
};

struct DbBackupRequest {
  std::string file;
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

/// Each entry is one sentence.
struct DatabaseFindings {
  std::vector<std::string> faults;
  std::vector<std::string> notes;  ///< damage on disk without loss of records
  std::size_t runs = 0;            ///< of the database
};
DatabaseFindings check_database(const DbCheckRequest& request, const App& app);

struct Backup {
  std::filesystem::path file;
  std::uint64_t bytes = 0;
  std::size_t runs = 0;
};
Backup back_up(const DbBackupRequest& request, const App& app);

struct Vacuumed {
  std::uint64_t before = 0, after = 0;  ///< bytes of the database
};
Vacuumed vacuum(const App& app);

}  // namespace encore::app
