// SPDX-License-Identifier: BSD-3-Clause
// make_queue_file() and open_queue_file(): the SQLite file of a review queue, with an application id and a
// version of its own. Only Queue (queue.hpp) calls them. A file of another program or version must be refused
// before a row of it is read. A change of the tables needs the next version.
#pragma once

#include <filesystem>
#include <memory>

#include "store/database.hpp"

namespace encore::review {

/// The application id in the head of the file: the letters ENRQ. It never changes.
inline constexpr std::int64_t queue_application = 0x454E5251;
inline constexpr std::int64_t queue_version = 1;

/// Makes the file, which only its owner may read, with its tables. Throws Error if the path exists.
std::unique_ptr<store::Database> make_queue_file(const std::filesystem::path& path,
                                                 std::chrono::milliseconds patience);
/// Opens the file. Throws Error that names the path and what to do if it is missing, is not a review queue,
/// or is of another version.
std::unique_ptr<store::Database> open_queue_file(const std::filesystem::path& path,
                                                 std::chrono::milliseconds patience);

}  // namespace encore::review
