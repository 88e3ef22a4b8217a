// SPDX-License-Identifier: BSD-3-Clause
// Maintains the database file: a copy while other processes write, a smaller file, and the numbered
// migrations that bring an older file to the schema of this Encore. `exp db` calls these.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "store/encore_database.hpp"

namespace encore {

/// One step from version `to` - 1. The SQL, then `fill` if there is one, run inside a transaction and must
/// leave what schema.sql makes.
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
  std::filesystem::path backup;  ///< empty if nothing was to be done
};

/// Upgrades the file to the version of the last migration. It first makes a copy beside it, of exactly the
/// state that is migrated, then takes every missing step in one transaction. Any failure leaves the file
/// unchanged. Refuses a newer file, one that no list of steps reaches, and one on which a process works.
/// `steps` is set for a file from outside: it must be sound, and copying and migrating it may take at most
/// that many steps of SQLite each (step_budget.hpp).
Upgrade upgrade_database(const std::filesystem::path& path,
                         std::span<const Migration> migrations = known_migrations(),
                         std::optional<std::uint64_t> steps = {});

/// Returns the version of a database file, newer and older ones too. Throws Error if it is not one of Encore.
std::int64_t version_of_file(const std::filesystem::path& path);

/// Returns what SQLite finds damaged in the pages of a file, which may lead to each other; "" if it is sound.
std::string damage_of(Database& database);

/// Makes a consistent copy while other processes write. It appears under its name when it is complete and on
/// disk. Throws Error if the target exists.
void backup_database(Database& database, const std::filesystem::path& target);

}  // namespace encore
