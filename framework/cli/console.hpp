// Console: where exp writes and whom it asks. It is the only place that knows the standard streams; a test
// gives it streams of its own. Verbs write answers to `out`; notices and progress go to `err`.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/app.hpp"
#include "cli/terminal.hpp"

namespace encore {

class ProgressLine;

class Console final : public Events {
 public:
  /// Neither stream is a terminal, and there is no user to ask.
  Console(std::ostream& out, std::ostream& err);
  /// The standard streams of this process.
  Console();
  ~Console() override;
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  std::ostream& out;
  std::ostream& err;
  Terminal terminal = {};              ///< of `out`
  Terminal error_terminal = {};        ///< of `err`
  std::optional<std::string> db = {};  ///< --db as it was written; suggested commands repeat it

  /// What --json prints, with two blanks of indent.
  void print(const nlohmann::ordered_json& answer);
  /// All of the standard input.
  std::string input() const;
  /// "exp show tiny", with --db where the user gave one: to be copied into a shell, so each word is quoted
  /// where a shell would take it for something else.
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

/// How often the user has asked to stop since listen_for_stop_requests.
const std::atomic<int>& stop_requests();
/// From here on SIGINT, SIGTERM and SIGHUP are counted instead of ending the process.
void listen_for_stop_requests();

/// Before another program writes there, or takes the place of this one.
void flush_standard_output();

/// How the user called this program: what stands in front of the commands we suggest.
std::string command_name();

}  // namespace encore
