// SPDX-License-Identifier: BSD-3-Clause
// SessionFile: makes a session, which is one running `exp run`, visible to other processes from its first
// moment, before it has read its plan, and carries requests to stop it. The file lies in
// encore.db.runs/sessions/ while the process works; requests are lines of a second file beside it, so that a
// request is never lost. app/run_session.hpp owns one; app/stop.cpp writes requests. An `exp stop` of another
// version reads these files, so their names and members do not change.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/stop_request.hpp"
#include "world/process.hpp"

namespace encore::runner {

class SessionFile {
 public:
  /// `runs` is the folder of run folders, `command` what the user typed. If nothing can be written there,
  /// there is no file, and other processes do not see this session.
  SessionFile(const std::filesystem::path& runs, const std::string& command);
  ~SessionFile();
  SessionFile(const SessionFile&) = delete;
  SessionFile& operator=(const SessionFile&) = delete;

  /// Makes requests to stop this sweep count for this session, including earlier ones.
  void works_on(const std::string& sweep);
  /// Returns the strongest request to stop since this object was made.
  StopWish asked() const;

 private:
  std::filesystem::path runs_, file_;
  bool made_runs_ = false;
  std::string command_, sweep_;
};

/// The session of another process.
struct OpenSession {
  world::ProcessIdentity process;
  std::string command;
  std::string sweep;  ///< empty: it has not read its plan yet
  std::filesystem::path file;
};

/// Returns the sessions of processes that are not known to have ended.
std::vector<OpenSession> open_sessions(const std::filesystem::path& runs);

/// Asks a session to end all its work or, with a name, its work on that sweep. Returns false if the session
/// has just ended.
bool request_stop(const OpenSession& session, StopWish wish, const std::string& sweep = "");

}  // namespace encore::runner
