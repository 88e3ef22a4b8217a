// SPDX-License-Identifier: BSD-3-Clause
// SessionFile: writes and removes the file of this session (one running `exp run`); open_sessions() lists
// those of other processes for `exp stop`. Files of killed processes are removed. An `exp stop` of another
// version may read them, so members keep their names. Read session_file.hpp first.
#include "runner/session_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <optional>
#include <random>
#include <sstream>
#include <system_error>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "base/input_file.hpp"
#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "world/atomic_file.hpp"
#include "world/file_descriptor.hpp"

namespace encore::runner {

static void list(auto& field, A<OpenSession> auto& session) {
  field("host", session.process.host);
  field("pid", session.process.pid);
  field("start_time", session.process.start_time);
  field("boot_id", session.process.boot_id);
  field("command", session.command);
  field("sweep", session.sweep);
}

namespace {

namespace fs = std::filesystem;

constexpr const char* folder_name = "sessions";
constexpr const char* session_end = ".json";
constexpr const char* request_end = ".stop";
/// The number of tries to write a file: another session that ends may remove the empty folder in between.
constexpr int tries = 10;
constexpr std::size_t most_session_bytes = std::size_t{1} << 20;

fs::path requests_of(fs::path session) {
  return session.replace_extension(request_end);
}

std::string random_name() {
  std::random_device source;
  return std::to_string(source()) + "-" + std::to_string(source());
}

/// Returns an empty string if there is none.
std::string content_of(const fs::path& file) {
  try {
    return read_file(file, most_session_bytes);
  } catch (const UnreadableFile&) {
    return "";
  }
}

/// Returns a line of a file of requests: ["stop", sweep], an empty sweep for all.
std::string line_of(StopWish wish, const std::string& sweep) {
  return nlohmann::json{wish == StopWish::kill ? "kill" : "stop", sweep}.dump(
             -1, ' ', true, nlohmann::json::error_handler_t::replace) +
         "\n";
}

std::string description(const std::string& command, const std::string& sweep) {
  const OpenSession session{.process = world::this_process(), .command = command, .sweep = sweep, .file = {}};
  return to_json_object(session).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// Returns nothing if the file is not a session, or has just ended.
std::optional<OpenSession> read_session(const fs::path& file) {
  try {
    auto session = from_json_object<OpenSession>(json_or_null(content_of(file)));
    session.file = file;
    return session;
  } catch (const FieldError&) {
    return std::nullopt;
  }
}

bool is_alive(const fs::path& session) {
  const std::optional<OpenSession> open = read_session(session);
  return open && world::liveness_of(open->process) != world::Liveness::gone;
}

/// Removes what killed processes left: sessions, requests to them, and files that never got their name (a
/// session that loses its own that way writes it again).
void remove_dead(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == world::aside_suffix) {
      fs::path session = entry.path();  // "12-34.json.0123456789ab.part"
      while (session.has_extension() && session.extension() != session_end) session.replace_extension();
      if (!is_alive(session)) fs::remove(entry.path(), ignored);
      continue;
    }
    const fs::path session = fs::path(entry.path()).replace_extension(session_end);
    if (entry.path().extension() == session_end) {
      if (!read_session(session) || is_alive(session)) continue;
    } else if (entry.path().extension() != request_end || fs::exists(session, ignored)) {
      continue;
    }
    fs::remove(entry.path(), ignored);
    fs::remove(requests_of(entry.path()), ignored);
  }
}

}  // namespace

SessionFile::SessionFile(const fs::path& runs, const std::string& command) : runs_(runs), command_(command) {
  std::error_code failure;
  made_runs_ = !fs::exists(runs_, failure);
  for (int attempt = 0; attempt < tries && file_.empty(); ++attempt) {
    fs::create_directories(runs_ / folder_name, failure);
    const fs::path file = runs_ / folder_name / (random_name() + session_end);
    try {
      world::replace_file(file, description(command_, sweep_));
      file_ = file;
    } catch (const Error&) {
      if (!fs::exists(runs_, failure)) break;  // the database will report what is wrong there
    }
  }
  remove_dead(runs_ / folder_name);
}

SessionFile::~SessionFile() {
  std::error_code ignored;
  if (file_.empty()) return;
  fs::remove(file_, ignored);
  fs::remove(requests_of(file_), ignored);
  fs::remove(runs_ / folder_name, ignored);  // succeeds where it is empty
  if (made_runs_) fs::remove(runs_, ignored);
}

void SessionFile::works_on(const std::string& sweep) {
  sweep_ = sweep;
  if (file_.empty()) return;
  try {
    world::replace_file(file_, description(command_, sweep_));
  } catch (const Error&) {
    // Only what others read of it is older now; requests by this name still reach it.
  }
}

StopWish SessionFile::asked() const {
  std::error_code unreadable;
  if (file_.empty() || !fs::exists(requests_of(file_), unreadable)) return StopWish::none;
  StopWish most = StopWish::none;
  std::istringstream in(content_of(requests_of(file_)));
  for (std::string line; std::getline(in, line);)
    for (const StopWish wish : {StopWish::checkpoint, StopWish::kill})
      if (line + "\n" == line_of(wish, "") || (!sweep_.empty() && line + "\n" == line_of(wish, sweep_)))
        most = std::max(most, wish);
  return most;
}

std::vector<OpenSession> open_sessions(const fs::path& runs) {
  std::vector<OpenSession> sessions;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(runs / folder_name, none)) {
    if (entry.path().extension() != session_end) continue;
    std::optional<OpenSession> session = read_session(entry.path());
    if (session && world::liveness_of(session->process) != world::Liveness::gone)
      sessions.push_back(std::move(*session));
  }
  return sessions;
}

bool request_stop(const OpenSession& session, StopWish wish, const std::string& sweep) {
  const fs::path file = requests_of(session.file);
  std::error_code unreadable;
  try {
    const world::FileDescriptor requests = world::open_file(file, O_WRONLY | O_CREAT | O_APPEND);
    const std::string line = line_of(wish, sweep);
    world::write_all(requests.get(), std::as_bytes(std::span(line)), file);
  } catch (const Error&) {
    if (fs::exists(session.file, unreadable)) throw;
  }
  return fs::exists(session.file, unreadable);
}

}  // namespace encore::runner
