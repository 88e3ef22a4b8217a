// Opens a file that is Encore's database, or makes one; says clearly why not.
// See also: schema.sql, which tells what is in it.
#pragma once

#include <filesystem>
#include <memory>

#include "store/database.hpp"

namespace encore {

/// The content of schema.sql.
extern const char* const schema_sql;
inline constexpr std::int64_t schema_version = 10;
/// The letters ENCR.
inline constexpr std::int64_t schema_application = 0x454E4352;

enum class OpenMode {
  create,  ///< read and write; made when missing, its folders too
  write,   ///< read and write an existing file
  read,    ///< read an existing file, also one that may not be written
};

/// Refuses, with a message that says what to do: a missing file (write, read), a file of another program, no
/// database at all, one of a newer or older version, a folder without the right to write.
std::unique_ptr<Database> open_encore_database(const std::filesystem::path& path, OpenMode mode,
                                               std::chrono::milliseconds patience = std::chrono::seconds(10));

/// The file as SQLite's URI: "file:/a/b.db?mode=ro".
std::string database_uri(const std::filesystem::path& path, const std::string& query);

/// Which schema version the file has, newer and older ones too. Throws Error for what is no database of
/// Encore.
std::int64_t version_of(Database& database);

/// Whether the file system under `folder` is known to carry SQLite's shared memory (WAL): local ones are,
/// network ones are not.
bool carries_wal(const std::filesystem::path& folder);

}  // namespace encore
