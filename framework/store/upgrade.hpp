// What keeps the database file itself in order: a copy while others write, a smaller file, and the numbered
// migrations that bring an older file to the schema of this Encore. `exp db` calls these.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "store/encore_database.hpp"

namespace encore {

/// One step from version `to` - 1. The SQL, then `fill` where there is one, run inside a transaction and must
/// leave what schema.sql makes.
struct Migration {
  std::int64_t to = 0;
  std::string sql;
  void (*fill)(Database&) = nullptr;
};

/// All there are, by rising version without a gap; the last one leads to schema_version.
std::span<const Migration> known_migrations();

struct Upgrade {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::filesystem::path backup;  ///< empty where nothing was to be done
};

/// Brings the file to the version of the last migration: first a copy beside it, of exactly the state that is
/// migrated, then every missing step in one transaction. Whatever fails leaves the file as it was. Refuses a
/// newer file, one that no list of steps reaches, and one on which a process works. `steps` are given
/// for a file from outside: it must be sound, and copying and migrating it may take at most that many steps
/// of SQLite each (step_budget.hpp).
Upgrade upgrade_database(const std::filesystem::path& path,
                         std::span<const Migration> migrations = known_migrations(),
                         std::optional<std::uint64_t> steps = {});

/// The version of a database file, newer and older ones too. Throws Error for what is no database of Encore.
std::int64_t version_of_file(const std::filesystem::path& path);

/// What SQLite finds damaged in the pages of a file, which may lead to each other; "" where it is sound.
std::string damage_of(Database& database);

/// A consistent copy, taken while others write; it appears under its name when it is whole and on disk.
/// Throws Error where the target exists.
void backup_database(Database& database, const std::filesystem::path& target);

}  // namespace encore
