// SPDX-License-Identifier: BSD-3-Clause
// Session file makes an exp run visible to others from its first moment on, before it has read its plan, and
// carries requests to stop it. It lies in encore.db.runs/sessions/ while the process works; requests are
// lines of a second file beside it, so that none is lost whichever comes first.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/stop_request.hpp"
#include "world/process.hpp"

namespace encore {

class SessionFile {
 public:
  /// `runs` is the folder of run folders, `command` what the user typed. If nothing can be written there,
  /// there is no file, and other processes do not see this session.
  SessionFile(const std::filesystem::path& runs, const std::string& command);
  ~SessionFile();
  SessionFile(const SessionFile&) = delete;
  SessionFile& operator=(const SessionFile&) = delete;

  /// From here on, requests to stop this sweep are for this session, earlier ones too.
  void works_on(const std::string& sweep);
  /// Returns what has been asked for since this object was made.
  StopWish asked() const;

 private:
  std::filesystem::path runs_, file_;
  bool made_runs_ = false;
  std::string command_, sweep_;
};

/// The session of another process.
struct OpenSession {
  ProcessIdentity process;
  std::string command;
  std::string sweep;  ///< empty: it has not read its plan yet
  std::filesystem::path file;
};

/// Returns those whose process is not known to be gone.
std::vector<OpenSession> open_sessions(const std::filesystem::path& runs);

/// Asks for an end of all its work, or, with a name, if it works on that sweep. Returns false if it has just
/// ended.
bool request_stop(const OpenSession& session, StopWish wish, const std::string& sweep = "");

}  // namespace encore
