// SPDX-License-Identifier: BSD-3-Clause
// Console: the output of exp and its questions to the user. Only this class uses the standard streams; a test
// passes its own. run_bound() in verbs.hpp gives it to every verb. Verbs must write answers to `out`, notices
// and progress to `err`, so that scripts can read answers.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/app.hpp"
#include "cli/terminal.hpp"

namespace encore::cli {

class ProgressLine;

class Console final : public app::Events {
 public:
  /// Makes a console on these streams: answers go to `out`, notices, progress and questions to `err`. Neither
  /// stream is a terminal, and there is no user to ask.
  Console(std::ostream& out, std::ostream& err);
  /// Makes the console on the standard streams of this process.
  Console();
  ~Console() override;
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  std::ostream& out;
  std::ostream& err;
  Terminal terminal = {};              ///< of `out`
  Terminal error_terminal = {};        ///< of `err`
  std::optional<std::string> db = {};  ///< --db as it was written; suggested commands repeat it

  /// Prints the answer of --json, with two blanks of indent.
  void print(const nlohmann::ordered_json& answer);
  /// Returns all of the standard input.
  std::string input() const;
  /// Calls `seen` with each line of a file, or of the standard input ("-") as soon as it is there. Reports
  /// the progress of a file. Throws UnreadableFile.
  void each_line(const std::string& file, const std::function<void(std::string_view line)>& seen);
  /// Asks for a line of the standard input; nothing at its end. Only for a terminal (can_ask()).
  std::optional<std::string> line(const std::string& question);
  /// Returns a command such as "exp show tiny", with the user's --db, for copying into a shell: each word is
  /// quoted where a shell would take it for something else.
  std::string suggestion(std::vector<std::string> words) const;
  void progressed(const std::string& what, std::size_t done, std::size_t all,
                  const std::string& unit) override;
  void noticed(const std::string& text) override;
  void relayed(const std::string& text) override;
  void started() override;
  bool agrees(const std::string& question) override;
  bool can_ask() const override;

 private:
  bool is_standard_ = false;
  std::unique_ptr<ProgressLine> progress_;
};

/// Returns the number of requests to stop since listen_for_stop_requests().
const std::atomic<int>& stop_requests();
/// Counts SIGINT, SIGTERM and SIGHUP from now on; they no longer end the process.
void listen_for_stop_requests();

/// Flushes the streams before another program writes there or replaces this process.
void flush_standard_output();

/// Returns the name by which the user called this program, for suggested commands.
std::string command_name();

}  // namespace encore::cli
