// SPDX-License-Identifier: BSD-3-Clause
// Maintains the database file: upgrade_database() brings an older file to the schema of this Encore,
// backup_database() copies it while other processes write. `exp db` calls them. The migrations are in
// upgrade.cpp: a new version adds one at the end, and a released one never changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "store/encore_database.hpp"

namespace encore::store {

/// One migration from version `to` - 1 to `to`. Its SQL and then `fill`, if there is one, run inside a
/// transaction. The last one must leave exactly what schema.sql makes.
struct Migration {
  std::int64_t to = 0;
  std::string sql;
  void (*fill)(Database&) = nullptr;
};

/// Returns all migrations, by rising version without a gap; the last one leads to schema_version.
std::span<const Migration> known_migrations();

struct Upgrade {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::filesystem::path backup;  ///< the copy; empty if no step was needed
};

/// Upgrades the file to the version of the last migration. First copies the file, in exactly the state that
/// is migrated; then runs all missing steps in one transaction. Any failure leaves the file unchanged. Throws
/// Error for a newer file, for a version that no list of steps reaches, and if a process works on a run.
/// `steps` is set for a file from outside: then the file must be undamaged, and copy and migration may each
/// take at most that many steps of SQLite (step_budget.hpp).
Upgrade upgrade_database(const std::filesystem::path& path,
                         std::span<const Migration> migrations = known_migrations(),
                         std::optional<std::uint64_t> steps = {});

/// Returns the version of a database file, newer and older ones too. Throws Error if it is not a database of
/// Encore.
std::int64_t version_of_file(const std::filesystem::path& path);

/// Returns what SQLite finds damaged in the file, for example pages that refer to each other; "" if nothing.
std::string damage_of(Database& database);

/// Makes a consistent copy while other processes write. The copy gets its name when it is complete and on
/// disk. Throws Error if the target exists.
void backup_database(Database& database, const std::filesystem::path& target);

}  // namespace encore::store
