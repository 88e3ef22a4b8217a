// Paths below a store. Ids of runs and names of files come from rows of the database, records of a spool and
// specifications, which anybody may have written; only here do they become paths, and what would lead out of
// its folder is refused.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace encore {

/// encore.db.runs, beside the database; absolute.
std::filesystem::path runs_folder_of(const std::filesystem::path& database);

/// Ten digits of 0-9 and a-f.
bool is_run_id(std::string_view text);
/// The id itself. Throws Error where it is none; `origin` says who names it ("database encore.db").
const std::string& require_run_id(const std::string& id, const std::string& origin);

/// The id of the run whose folder it is, by its name; empty for another folder (that of a verification).
std::string run_of_folder(const std::filesystem::path& folder);

/// `folder`/`name`, for a name relative to that folder. Throws Error for a name that is empty, absolute,
/// holds a NUL, or climbs out ("..").
std::filesystem::path path_below(const std::filesystem::path& folder, const std::string& name);

/// Throws Error where the folder holds no run: it says what it is instead, as far as that can be told.
void require_run_folder(const std::filesystem::path& folder);

/// A folder itself, not a symbolic link to one: what is removed is looked for in such folders only.
bool is_own_folder(const std::filesystem::path& path);

/// Whether a run can have the name. Names are printed and typed, so one from elsewhere must hold no character
/// that a terminal takes for a command (base/terminal_text.hpp) and must not begin like an option.
bool is_sound_run_name(const std::string& name);

}  // namespace encore
