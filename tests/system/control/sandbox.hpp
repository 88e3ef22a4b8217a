// SPDX-License-Identifier: BSD-3-Clause
// Sandbox: a folder of its own with a small corpus and an experiment file, in which tests run `exp` as a user
// does. Nearly all tests below tests/system use it, with the scripted worker (fake_worker.cpp) or the real
// one. Many of them compare exact output, so the corpus and tiny_experiment() stay as they are.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/worker_process.hpp"

namespace encore::system_test {

/// The seconds after which a test gives up, for a machine that is very busy.
inline constexpr double patience = 600;

/// Whether `text` contains `part`.
inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Replaces the first `from` in `text`, or all of them, by `to`; fails the test if there is none.
void replace_first(std::string& text, const std::string& from, const std::string& to);
void replace_all(std::string& text, const std::string& from, const std::string& to);

/// The folder into which the build writes the plugins that ship.
std::filesystem::path built_in_plugins();

/// A query that returns the digests of a database with one run, in the order of their steps.
inline constexpr const char* digests_of_run =
    "SELECT group_concat(step || ' ' || value, ', ') FROM (SELECT * FROM current_digest ORDER BY step)";

/// Waits until the condition holds; false when it did not within `patience`.
bool eventually(const std::function<bool()>& condition);

/// Returns the state in /proc: 'R' and 'S' work, 'T' is stopped, 'Z' has ended; 0 if the process is gone.
char state_of(pid_t process);
bool has_ended(pid_t process);

/// The experiment file that Sandbox writes: two tiny layers, four epochs.
std::string tiny_experiment(const std::string& name = "tiny");

class Sandbox {
 public:
  /// Uses the scripted worker, or the one of this build.
  explicit Sandbox(bool real_worker = false);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  void write(const std::string& name, const std::string& content) const;
  /// Sets a variable of the environment for every later call.
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }

  /// Runs `exp` with these arguments in the folder and waits for its end.
  runner::ProgramOutput exp(const std::vector<std::string>& arguments, const std::string& input = "") const;
  /// Runs lines of bash in the folder, with the same environment.
  runner::ProgramOutput shell(const std::string& lines) const;
  /// Whether a shell finds this program.
  static bool has(const std::string& program);
  /// Starts `exp` and returns at once; its output goes to the file `output`.
  pid_t start(const std::vector<std::string>& arguments, const std::string& output = "output.txt") const;
  /// Waits for a started process. Returns nothing, and kills it, if it still runs after `patience`.
  static std::optional<runner::ProcessEnd> wait(pid_t process);

  /// Returns the first column of each row of a query, read with a connection of its own.
  std::vector<std::string> query(const std::string& sql) const;
  std::string one(const std::string& sql) const;
  /// Runs SQL that writes, without exp.
  void change(const std::string& sql) const;
  std::string read(const std::string& name) const;
  /// Waits until the condition holds. Returns false if it does not and all started processes have ended.
  bool wait_until(const std::function<bool()>& condition) const;
  /// Waits until the query returns this text.
  bool wait_until(const std::string& sql, const std::string& wanted) const;
  /// Waits until a file, such as the output of a started process, contains this text.
  bool wait_for_text(const std::string& file, const std::string& text) const;
  /// Returns the process ids of the workers of this sandbox.
  std::vector<pid_t> workers() const;
  /// Waits until there are none.
  bool wait_until_no_workers() const;

 private:
  std::vector<std::string> command(const std::vector<std::string>& words) const;

  std::filesystem::path folder_;
  std::map<std::string, std::string> environment_;
  mutable std::vector<pid_t> started_;
};

}  // namespace encore::system_test
