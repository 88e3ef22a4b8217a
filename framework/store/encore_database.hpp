// SPDX-License-Identifier: BSD-3-Clause
// open_encore_database() opens a file that is Encore's database, or makes one, or throws an Error that says
// why it cannot. Store and `exp db` call it. Read next: schema.sql, which describes the tables.
#pragma once

#include <filesystem>
#include <memory>

#include "store/database.hpp"

namespace encore::store {

/// The text of schema.sql.
extern const char* const schema_sql;
/// The version of schema.sql. A change of schema.sql needs the next number and a step in upgrade.cpp.
inline constexpr std::int64_t schema_version = 10;
/// The application id in the head of the file: the letters ENCR. It never changes.
inline constexpr std::int64_t schema_application = 0x454E4352;

enum class OpenMode {
  create,  ///< read and write; made when missing, its folders too
  write,   ///< read and write an existing file
  read,    ///< read an existing file, which may be read-only
};

/// Throws an Error that says what to do for: a missing file (write, read), a file of another program, a file
/// that is not a database, a database of a newer or older version, a folder that the user may not write.
std::unique_ptr<Database> open_encore_database(const std::filesystem::path& path, OpenMode mode,
                                               std::chrono::milliseconds patience = std::chrono::seconds(10));

/// Opens an existing file for reading and writing, or ":memory:", without a check of its content. Throws
/// DatabaseError if the file cannot be written.
std::unique_ptr<Database> open_writable(const std::filesystem::path& path, std::chrono::milliseconds patience,
                                        const DatabaseWords& words = {});

/// Returns the file as SQLite's URI: "file:/a/b.db?mode=ro".
std::string database_uri(const std::filesystem::path& path, const std::string& query);

/// Returns the schema version of the file, also of newer and older versions. Throws Error if the file is not
/// a database of Encore.
std::int64_t version_of(Database& database);

/// Returns whether the file system under `folder` is known to support SQLite's shared memory (WAL). Local
/// ones do, network ones do not.
bool carries_wal(const std::filesystem::path& folder);

/// Sets the journal mode that the file system supports, WAL if it can, and makes commits survive a power cut.
void choose_journal(Database& database);

}  // namespace encore::store
