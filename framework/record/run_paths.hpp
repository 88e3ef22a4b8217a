// SPDX-License-Identifier: BSD-3-Clause
// Paths below a store: run folders and the files in them. Ids of runs and names of files come from rows of
// the database, records of a spool and specifications, which anyone may have written. Only these functions
// make paths of them, and they refuse a path that leads out of its folder. All code that opens files of a run
// must call them, because a check that is missing lets foreign data write elsewhere.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace encore::record {

/// Returns encore.db.runs beside the database, as an absolute path.
std::filesystem::path runs_folder_of(const std::filesystem::path& database);

/// Returns whether the text is ten digits of 0-9 and a-f.
bool is_run_id(std::string_view text);
/// Returns the id. Throws Error if it is invalid; `origin` is its source in messages ("database encore.db").
const std::string& require_run_id(const std::string& id, const std::string& origin);

/// Returns the id of the run that the folder belongs to, from its name; empty for other folders.
std::string run_of_folder(const std::filesystem::path& folder);

/// Returns `folder`/`name`, for a name relative to that folder. Throws Error for a name that is empty,
/// absolute, holds a NUL, or climbs out ("..").
std::filesystem::path path_below(const std::filesystem::path& folder, const std::string& name);

/// Throws Error if the folder holds no run. The message says what the folder is, as far as it is known.
void require_run_folder(const std::filesystem::path& folder);

/// Returns whether it is a folder and not a symbolic link. Files are removed only from such folders.
bool is_own_folder(const std::filesystem::path& path);

/// Returns whether a run can have the name. Names are printed and typed, so a name must not hold a character
/// that controls a terminal (base/terminal_text.hpp) and must not begin like an option.
bool is_sound_run_name(const std::string& name);

}  // namespace encore::record
