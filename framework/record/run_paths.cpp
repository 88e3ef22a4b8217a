// SPDX-License-Identifier: BSD-3-Clause
// Makes paths from ids and names that come from databases, spools and bundles, after it has checked each
// character. All code that opens files of a run calls it. A check that is too weak here lets foreign data
// write outside of its folder. Read run_paths.hpp first.
#include "record/run_paths.hpp"

#include <algorithm>
#include <system_error>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "base/terminal_text.hpp"

namespace encore::record {

namespace {

constexpr std::size_t id_length = 10;

/// Quotes a text for a message, with escapes for what is not printable ASCII: a NUL would end the message.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::filesystem::path runs_folder_of(const std::filesystem::path& database) {
  return std::filesystem::absolute(database.string() + ".runs");
}

bool is_run_id(std::string_view text) {
  return text.size() == id_length && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

const std::string& require_run_id(const std::string& id, const std::string& origin) {
  if (!is_run_id(id))
    throw Error(origin + " holds a run with the id " + quoted(id) +
                ": expected ten digits of 0-9 and a-f; another program has changed it. No file was touched; "
                "restore a backup, or delete that row with sqlite3");
  return id;
}

std::string run_of_folder(const std::filesystem::path& folder) {
  std::string name = folder.filename().string();
  return is_run_id(name) ? name : std::string();
}

std::filesystem::path path_below(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path relative(name);
  const bool climbs = std::ranges::find(relative, std::filesystem::path("..")) != relative.end();
  if (name.empty() || name.find('\0') != std::string::npos || relative.is_absolute() || climbs)
    throw Error("the file name " + quoted(name) + " leads out of the folder " + folder.string() +
                ", where it is recorded: another program has changed the record. The file was not touched");
  return folder / relative;
}

void require_run_folder(const std::filesystem::path& folder) {
  std::error_code unreadable;
  if (std::filesystem::exists(folder / "specification.json", unreadable)) return;
  std::string why =
      ": it has no specification.json, so it is not the folder of a run; name encore.db.runs/ID (exp show "
      "RUN prints it), a folder of exp export --format encore, or a bundle";
  if (!std::filesystem::exists(folder, unreadable))
    why = ": there is no such folder";
  else if (std::filesystem::exists(folder / "config.json", unreadable))
    why = ": this is a model of transformers; make a run of it first (exp import DIR)";
  throw Error(folder.string() + why);
}

bool is_own_folder(const std::filesystem::path& path) {
  std::error_code failure;
  return std::filesystem::is_directory(std::filesystem::symlink_status(path, failure));
}

bool is_sound_run_name(const std::string& name) {
  const bool has_tab = name.find('\t') != std::string::npos;  // a tab counts as printable
  return !name.empty() && name.front() != '-' && !has_tab && printable(name) == name;
}

}  // namespace encore::record
